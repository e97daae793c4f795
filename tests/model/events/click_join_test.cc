#include "model/events/click_join.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/events/click_memory.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kStart = 1'795'670'482'000;
constexpr std::int64_t kMinute = 60'000;

Impression List(std::string_view id, std::int64_t time_ms = kStart,
                std::string_view session = "") {
  return {.id = std::string(id),
          .time_ms = time_ms,
          .query = "red shoe",
          .session = std::string(session),
          .results = {{.document = "7", .title = "shoes"},
                      {.document = "8", .title = "boots"}}};
}

Event ClickOn(std::string_view impression, std::uint32_t position,
              std::int64_t time_ms = kStart) {
  return {.impression = std::string(impression),
          .kind = "click",
          .position = position,
          .time_ms = time_ms};
}

class ClickJoinTest : public ::testing::Test {
 protected:
  // Joins the records and returns the rows as text.
  std::string Join(const std::vector<EventRecord>& records) {
    ClickJoin join(options_);
    for (const EventRecord& record : records) {
      EXPECT_THAT(join.Add(record), IsOk());
    }
    EXPECT_THAT(join.Finish(), IsOk());
    counts_ = join.counts();
    std::string lines;
    for (const ClickRow& row : join.rows().Sorted()) {
      AppendClickRow(row, join.text(row.query), join.text(row.title), lines);
    }
    return lines;
  }

  ClickJoinOptions options_;
  ClickJoinCounts counts_;
};

TEST_F(ClickJoinTest, SumsClicksByQueryTitleAndPosition) {
  Impression exchanged = List("2");
  std::swap(exchanged.results[0], exchanged.results[1]);
  EXPECT_EQ(
      Join({List("1"), ClickOn("1", 1), exchanged, ClickOn("2", 2), List("3")}),
      "red shoe\tshoes\t1\t2\t1\n"
      "red shoe\tshoes\t1\t1\t2\n"
      "red shoe\tboots\t0\t1\t1\n"
      "red shoe\tboots\t0\t2\t2\n");
  EXPECT_EQ(counts_.lists, 3);
  EXPECT_EQ(counts_.clicked_lists, 2);
  EXPECT_EQ(counts_.clicks, 2);
}

TEST_F(ClickJoinTest, ClickMayPrecedeItsImpression) {
  EXPECT_THAT(Join({ClickOn("1", 2), List("1")}),
              HasSubstr("boots\t1\t1\t2\n"));
  EXPECT_EQ(counts_.orphans, 0);
}

TEST_F(ClickJoinTest, DocumentDecidesWhichResultWasClicked) {
  Event by_document = ClickOn("1", 0);
  by_document.document = "8";
  EXPECT_THAT(Join({List("1"), by_document}), HasSubstr("boots\t1\t1\t2\n"));
  by_document.position = 1;  // counted in another way
  EXPECT_THAT(Join({List("1"), by_document}), HasSubstr("boots\t1\t1\t2\n"));
  by_document.document = "9";
  Join({List("1"), by_document, ClickOn("1", 3), ClickOn("1", 0)});
  EXPECT_EQ(counts_.unknown_results, 3);
  EXPECT_EQ(counts_.clicks, 0);
}

TEST_F(ClickJoinTest, DoublesCountOnce) {
  Event first = ClickOn("1", 1);
  first.id = "e1";
  Event elsewhere = ClickOn("1", 2);
  elsewhere.id = "e1";
  EXPECT_EQ(Join({List("1"), first, first, elsewhere, ClickOn("1", 1)}),
            "red shoe\tshoes\t1\t1\t1\nred shoe\tboots\t0\t1\t2\n");
  EXPECT_EQ(counts_.doubles, 3);
}

TEST_F(ClickJoinTest, ImpressionsOfOneIdCountOnce) {
  EXPECT_THAT(Join({List("1"), List("1")}), HasSubstr("shoes\t0\t1\t1"));
  EXPECT_EQ(counts_.repeated_lists, 1);
}

TEST_F(ClickJoinTest, ClicksOutsideTheWindowAreDropped) {
  Join({List("1"), ClickOn("1", 1, kStart + 31 * kMinute), ClickOn("2", 1)});
  EXPECT_EQ(counts_.clicks, 0);
  EXPECT_EQ(counts_.late, 1);
  EXPECT_EQ(counts_.orphans, 1);
}

TEST_F(ClickJoinTest, OtherKindsAreDropped) {
  Event dismissal = ClickOn("1", 1);
  dismissal.kind = "dismissal";
  Join({List("1"), dismissal});
  EXPECT_EQ(counts_.clicks, 0);
  EXPECT_EQ(counts_.other_kinds, 1);
  options_.kinds = {"click", "dismissal"};
  Join({List("1"), dismissal});
  EXPECT_EQ(counts_.clicks, 1);
}

// The stream passes lists on while it is read, and remembers for another window
// which they were. A quiet hour makes no list too old.
TEST_F(ClickJoinTest, ForgetsWhatIsOlderThanTheWindow) {
  std::size_t num_lists = 0;
  ClickJoin join({.on_list = [&](const JoinedList&, const ClickJoin&) {
    ++num_lists;
    return absl::OkStatus();
  }});
  const std::int64_t later = kStart + 60 * kMinute;
  for (const auto time_ms : {kStart, later}) {
    for (int i = 0; i < 100; ++i) {
      ASSERT_THAT(join.Add(List(absl::StrFormat("%d %d", i, time_ms), time_ms)),
                  IsOk());
    }
  }
  // The clock follows some records later, so that a few more lists wait.
  EXPECT_GE(num_lists, 80U);
  EXPECT_LE(num_lists, 100U);
  ASSERT_THAT(join.Add(ClickOn("0 1795670482000", 1, kStart + kMinute)),
              IsOk());
  ASSERT_THAT(join.Add(ClickOn("0 1795674082000", 1, later)), IsOk());
  ASSERT_THAT(join.Add(ClickOn("none", 1, later)), IsOk());
  ASSERT_THAT(join.Finish(), IsOk());
  EXPECT_EQ(join.counts().late, 1);
  EXPECT_EQ(join.counts().orphans, 1);
  EXPECT_EQ(join.counts().clicks, 1);
}

// One application has a wrong clock: the lists of others still wait for their
// clicks.
TEST_F(ClickJoinTest, TimeInTheFutureMovesNoOtherList) {
  std::vector<EventRecord> records;
  for (int i = 0; i < 50; ++i) {
    records.push_back(List(absl::StrFormat("%d", i), kStart + i));
    if (i % 10 == 5) {
      records.push_back(List(absl::StrFormat("f%d", i), kStart * 2));
    }
  }
  for (int i = 0; i < 50; ++i) {
    records.push_back(ClickOn(absl::StrFormat("%d", i), 1, kStart + kMinute));
  }
  Join(records);
  EXPECT_EQ(counts_.clicks, 50);
}

// The clicks of lists on both sides of the step are joined.
TEST_F(ClickJoinTest, ClockMayGoBack) {
  std::vector<EventRecord> records;
  for (int i = 0; i < 200; ++i) {
    const std::int64_t time_ms = kStart + i - (i < 100 ? 0 : 120 * kMinute);
    records.push_back(List(absl::StrFormat("%d", i), time_ms));
    if (i % 100 >= 10) {
      records.push_back(
          ClickOn(absl::StrFormat("%d", i - 10), 1, time_ms + 1000));
    }
  }
  Join(records);
  EXPECT_EQ(counts_.lists, 200);
  EXPECT_EQ(counts_.clicks, 180);
}

TEST_F(ClickJoinTest, SessionThatClicksTooFastIsARobot) {
  options_.max_clicks_per_minute = 3;
  std::vector<EventRecord> records = {List("p", kStart, "person"),
                                      ClickOn("p", 1)};
  for (int i = 0; i < 4; ++i) {
    const std::string id = absl::StrFormat("%d", i);
    records.push_back(List(id, kStart, "robot"));
    records.push_back(ClickOn(id, 1));
  }
  EXPECT_THAT(Join(records), HasSubstr("shoes\t1\t1\t1\n"));
  EXPECT_EQ(counts_.robots, 1);
  EXPECT_EQ(counts_.robot_lists, 4);
  EXPECT_EQ(counts_.robot_clicks, 4);
  options_.max_clicks_per_minute = 0;
  Join(records);
  EXPECT_EQ(counts_.clicks, 5);
}

TEST(RobotRulesTest, SessionsThatHaveEndedAreRemoved) {
  RobotRules rules(/*max_clicks_per_minute=*/30, /*memory_ms=*/kMinute);
  for (std::uint64_t session = 1; session <= 1'000; ++session) {
    const std::int64_t now_ms =
        kStart + static_cast<std::int64_t>(session) * 1'000;
    rules.CountClick(session, now_ms, now_ms);
    rules.RemoveEnded(now_ms);
  }
  EXPECT_LE(rules.num_bytes(), 130u * 64);
}

TEST_F(ClickJoinTest, SessionThatClicksEverythingIsARobot) {
  options_.min_fully_clicked = 2;
  Join({List("1", kStart, "robot"), List("2", kStart, "robot"), ClickOn("1", 1),
        ClickOn("1", 2), List("3")});
  EXPECT_EQ(counts_.robots, 1);
  EXPECT_EQ(counts_.robot_lists, 2);
  EXPECT_EQ(counts_.lists, 1);
}

TEST_F(ClickJoinTest, ListsWithoutTextsHaveNoRows) {
  Impression hashed = List("1");
  hashed.query_hash = std::exchange(hashed.query, "");
  Impression untitled = List("2");
  untitled.results[0].title = "";
  EXPECT_EQ(Join({hashed, untitled}), "red shoe\tboots\t0\t1\t2\n");
  EXPECT_EQ(counts_.lists_without_query, 1);
  EXPECT_EQ(counts_.results_without_title, 1);
  options_.title_of = [](std::string_view document) {
    return document == "7" ? "shoes" : "";
  };
  EXPECT_THAT(Join({untitled}), HasSubstr("red shoe\tshoes\t0\t1\t1\n"));
}

TEST_F(ClickJoinTest, DatesSelectLists) {
  options_.begin_ms = kStart;
  options_.end_ms = kStart + 1;
  Join({List("1", kStart - 1), ClickOn("1", 1), List("2"),
        List("3", kStart + 1)});
  EXPECT_EQ(counts_.lists, 1);
  EXPECT_EQ(counts_.lists_outside_dates, 2);
  EXPECT_EQ(counts_.clicks_outside_dates, 1);
  EXPECT_EQ(counts_.orphans, 0);
}

// A report key in wrong hands costs neither time nor memory.
TEST_F(ClickJoinTest, MillionEventsForOneImpressionCountOnce) {
  ClickJoin join({.max_bytes = 10'000'000});
  ASSERT_THAT(join.Add(List("1")), IsOk());
  for (int i = 0; i < 1'000'000; ++i) {
    Event event = ClickOn(i % 2 == 0 ? "1" : "unknown", 1);
    event.id = absl::StrFormat("%d", i);
    ASSERT_THAT(join.Add(event), IsOk());
  }
  ASSERT_THAT(join.Finish(), IsOk());
  EXPECT_EQ(join.counts().clicks, 1);
  EXPECT_EQ(join.counts().doubles, 499'999);
  EXPECT_EQ(join.counts().orphans, 500'000);
}

TEST_F(ClickJoinTest, TooMuchMemoryIsAnError) {
  ClickJoin join({.max_bytes = 100});
  EXPECT_THAT(join.Add(List("1")),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("join fewer days")));
}

TEST_F(ClickJoinTest, TextsFitInOneLine) {
  Impression list = List("1");
  list.query = "red\tshoe\n";
  EXPECT_THAT(Join({list}), HasSubstr("red shoe \tshoes\t0\t1\t1\n"));
}

}  // namespace
}  // namespace semrank
