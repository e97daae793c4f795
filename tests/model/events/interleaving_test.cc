#include "model/events/interleaving.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_format.h"
#include "model/events/event_stats.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

class InterleavingTest : public ::testing::Test {
 protected:
  // A list of two results, of teams a and b, with a click on each position.
  void Show(std::string_view session, std::string_view a, std::string_view b,
            const std::vector<std::uint32_t>& clicks) {
    const std::string id = absl::StrFormat("%d", num_lists_++);
    EventRecord list = Impression{.id = id,
                                  .query = "q",
                                  .session = std::string(session),
                                  .ranker_a = std::string(a),
                                  .ranker_b = std::string(b),
                                  .results = {{.document = "1", .team = 'a'},
                                              {.document = "2", .team = 'b'}}};
    Add(list);
    for (const std::uint32_t position : clicks) {
      Add(Event{.impression = id, .kind = "click", .position = position});
    }
  }
  void Add(const EventRecord& record) {
    stats_.AddRecord(record);
    ASSERT_THAT(join_.Add(record), IsOk());
  }

  std::vector<InterleavedPair> Results() {
    EXPECT_THAT(join_.Finish(), IsOk());
    return comparison_.Results();
  }

  int num_lists_ = 0;
  InterleavingComparison comparison_;
  EventStats stats_;
  ClickJoin join_{
      {.on_list = [this](const JoinedList& list, const ClickJoin& join) {
        comparison_.Add(list, join);
        stats_.AddList(list, join);
        return absl::OkStatus();
      }}};
};

TEST_F(InterleavingTest, SessionGoesToTheModelWithMoreClicks) {
  Show("s1", "new/1", "old/1", {1});
  Show("s1", "new/1", "old/1", {1, 2});
  // The same models, teams exchanged.
  Show("s2", "old/1", "new/1", {1});
  Show("s3", "old/1", "new/1", {1, 2});
  Show("s4", "old/1", "new/1", {});
  Show("", "old/1", "new/1", {2});
  Show("", "old/1", "new/1", {2});
  Show("s5", "", "", {1});
  const auto results = Results();
  ASSERT_EQ(results.size(), 1U);
  const InterleavedPair& pair = results[0];
  EXPECT_EQ(pair.a, "new/1");
  EXPECT_EQ(pair.b, "old/1");
  EXPECT_EQ(pair.lists, 7);
  EXPECT_EQ(pair.sessions, 6);
  EXPECT_EQ(pair.wins, 3);
  EXPECT_EQ(pair.ties, 1);
  EXPECT_EQ(pair.losses, 1);
  EXPECT_EQ(pair.without_clicks, 1);
  EXPECT_DOUBLE_EQ(pair.share, 0.7);
  EXPECT_LT(pair.share_low, 0.7);
  EXPECT_GT(pair.share_high, 0.7);
  EXPECT_DOUBLE_EQ(pair.p, 0.625);
}

// The values are sums of binomial coefficients.
TEST_F(InterleavingTest, SignTestIsExact) {
  EXPECT_DOUBLE_EQ(SignTest(0, 0), 1);
  EXPECT_DOUBLE_EQ(SignTest(5, 5), 1);
  EXPECT_NEAR(SignTest(8, 2), 0.109375, 1e-9);
  EXPECT_NEAR(SignTest(60, 40), 0.05688793, 1e-7);
}

TEST_F(InterleavingTest, IntervalIsThatOfTheBinomial) {
  for (int i = 0; i < 4000; ++i) Show("", "a", "b", {i % 4 == 0 ? 2U : 1U});
  const InterleavedPair pair = Results()[0];
  // 0.75 -+ 1.96 sqrt(0.75 * 0.25 / 4000), the normal approximation.
  EXPECT_NEAR(pair.share_low, 0.7366, 0.0005);
  EXPECT_NEAR(pair.share_high, 0.7634, 0.0005);
}

TEST_F(InterleavingTest, FewEqualSessionsLeaveAWideInterval) {
  for (int i = 0; i < 3; ++i) Show("", "a", "b", {1});
  const InterleavedPair pair = Results()[0];
  EXPECT_EQ(pair.share, 1);
  EXPECT_NEAR(pair.share_low, 0.4385, 0.0001);
  EXPECT_NEAR(pair.share_high, 1, 1e-12);
}

TEST_F(InterleavingTest, SmallEffectsNeedManySessions) {
  EXPECT_EQ(SessionsForEffect(0.05), 783);
  EXPECT_EQ(SessionsForEffect(0.1), 194);
}

TEST_F(InterleavingTest, StatsCountByPositionKindAndRanker) {
  Show("", "new/1", "old/1", {2});
  Show("", "old/1", "new/1", {});
  Add(Event{.impression = "0", .kind = "conversion", .position = 1});
  Results();
  EXPECT_EQ(stats_.kinds().at("click"), 1);
  EXPECT_EQ(stats_.kinds().at("conversion"), 1);
  EXPECT_EQ(stats_.positions().at(1).impressions, 2);
  EXPECT_EQ(stats_.positions().at(1).clicks, 1);
  const ShownByRanker& ranker = stats_.rankers().at("new/1 + old/1");
  EXPECT_EQ(ranker.lists, 2);
  EXPECT_EQ(ranker.clicked, 1);
  EXPECT_EQ(ranker.clicked_at_1, 0);
  EXPECT_EQ(ranker.clicked_at_3, 1);
}

}  // namespace
}  // namespace semrank
