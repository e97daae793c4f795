#include "server/events/event_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "server/base/errors.h"
#include "server/events/event_files.h"
#include "tests/support/event_folder.h"
#include "tests/support/full_disk.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class EventLogTest : public ::testing::Test {
 protected:
  EventLogTest() { Open(); }

  void Open() {
    log_.reset();  // releases the folder's lock
    Open(EventFiles::Open({.folder = Folder()}).value());
  }
  void Open(std::unique_ptr<EventSink> sink) {
    log_.reset();
    metrics_ = std::make_unique<Metrics>();
    const KeyedHash hash = KeyedHash::OpenOrCreate(Folder()).value();
    log_ =
        std::make_unique<EventLog>(std::move(sink), hash, options_, *metrics_);
  }
  std::string Folder() const { return dir_.File("events"); }

  ReportOutcome Report(EventReport report) {
    std::promise<ReportOutcome> outcome;
    log_->AddReport(std::move(report), [&](const ReportOutcome& done) {
      outcome.set_value(done);
    });
    return outcome.get_future().get();
  }
  static Event Click(std::string impression, std::string id = "") {
    return {.id = std::move(id),
            .impression = std::move(impression),
            .kind = "click",
            .position = 1,
            .time_ms = 1};
  }

  TempDir dir_;
  EventLog::Options options_;
  std::unique_ptr<Metrics> metrics_;
  std::unique_ptr<EventLog> log_;
};

TEST_F(EventLogTest, AnAcknowledgedReportIsOnDisk) {
  const ReportOutcome outcome = Report({.events = {Click("list")}});
  EXPECT_THAT(outcome.status, IsOk());
  EXPECT_EQ(outcome.num_accepted, 1u);
  EXPECT_THAT(RecordsOf<Event>(Folder()), ElementsAre(Click("list")));
}

TEST_F(EventLogTest, ImpressionsAreWrittenWhenTheLogEnds) {
  const std::string id = log_->AddImpression(
      {.query = "shoe", .results = {{.document = "7", .title = "shoes"}}}, 1);
  EXPECT_THAT(id, SizeIs(22));
  log_.reset();
  const auto lists = RecordsOf<Impression>(Folder());
  ASSERT_THAT(lists, SizeIs(1));
  EXPECT_EQ(lists[0].id, id);
  EXPECT_EQ(lists[0].query, "shoe");
  EXPECT_GT(lists[0].time_ms, 0);
}

TEST_F(EventLogTest, AClickOnARememberedListIsNoOrphan) {
  const std::string id = log_->AddImpression({}, 7);
  EXPECT_EQ(log_->FindListLength(id), 7u);
  EXPECT_EQ(Report({.events = {Click(id), Click("other")}}).num_orphans, 1u);
  EXPECT_EQ(log_->counters().num_orphans(), 1);
  EXPECT_EQ(log_->counters().clicks()[0], 2);
}

TEST_F(EventLogTest, AnEventIdCountsOnce) {
  EXPECT_EQ(Report({.events = {Click("a", "1"), Click("a", "1"), Click("a"),
                               Click("a")}})
                .num_duplicates,
            1u);
  const ReportOutcome again = Report({.events = {Click("a", "1")}});
  EXPECT_THAT(again.status, IsOk());
  EXPECT_EQ(again.num_duplicates, 1u);
  EXPECT_EQ(again.num_accepted, 0u);
  EXPECT_THAT(RecordsOf<Event>(Folder()), SizeIs(3));
  EXPECT_EQ(log_->counters().num_duplicates(), 2);
}

TEST_F(EventLogTest, NamesAreHashedAndTheQueryAsTheOptionSays) {
  const auto protect = [&](EventText text) {
    options_.text = text;
    Open();
    log_->AddImpression(
        {.query = "secret shoes", .session = "ann", .user = "ann"}, 1);
    log_.reset();
    return RecordsOf<Impression>(Folder()).back();
  };
  const Impression full = protect(EventText::kFull);
  EXPECT_EQ(full.query, "secret shoes");
  EXPECT_THAT(full.user, SizeIs(KeyedHash::kHashChars));
  EXPECT_NE(full.user, full.session);
  const Impression hashed = protect(EventText::kHash);
  EXPECT_EQ(hashed.query, "");
  EXPECT_THAT(hashed.query_hash, SizeIs(KeyedHash::kHashChars));
  EXPECT_EQ(hashed.user, full.user);  // the folder's key stays
  const Impression none = protect(EventText::kNone);
  EXPECT_EQ(none.query + none.query_hash, "");
}

TEST_F(EventLogTest, AFullQueueDropsImpressionsAndRefusesReports) {
  options_.max_queue_bytes = 10;
  Open();
  const std::string id = log_->AddImpression({.query = "shoe"}, 1);
  EXPECT_THAT(id, SizeIs(22));
  EXPECT_EQ(log_->counters().num_dropped(), 1);
  EXPECT_EQ(log_->FindListLength(id), std::nullopt);
  const ReportOutcome outcome = Report({.events = {Click(id)}});
  EXPECT_THAT(outcome.status, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(ErrorReason(outcome.status), "EVENTS_UNAVAILABLE");
  EXPECT_EQ(log_->counters().num_unwritten_reports(), 1);
}

TEST_F(EventLogTest, TheTextsOfAnEventCountInTheQueue) {
  options_.max_queue_bytes = 1'000;
  Open();
  const std::string text(1'000, 'x');
  for (const Event& event : {Event{.id = text}, Event{.impression = text},
                             Event{.kind = text}, Event{.document = text}}) {
    EXPECT_THAT(Report({.events = {event}}).status,
                StatusIs(absl::StatusCode::kUnavailable));
  }
}

TEST_F(EventLogTest, AFullDiskFailsReportsUntilThereIsSpace) {
  {
    const FullDisk disk(0);
    log_->AddImpression({.query = "shoe"}, 1);
    EXPECT_THAT(Report({.events = {Click("a", "1")}}).status,
                StatusIs(absl::StatusCode::kUnavailable));
  }
  EXPECT_TRUE(log_->is_failing());
  EXPECT_EQ(log_->counters().num_dropped(), 1);
  EXPECT_EQ(log_->counters().num_events(), 0);
  // The id of an event that was not kept is not remembered.
  const ReportOutcome again = Report({.events = {Click("a", "1")}});
  EXPECT_THAT(again.status, IsOk());
  EXPECT_EQ(again.num_accepted, 1u);
  EXPECT_FALSE(log_->is_failing());
  EXPECT_THAT(RecordsOf<Event>(Folder()), SizeIs(1));
}

// Keeps nothing. Append waits while the promise of `gate` is not set.
class SlowSink final : public EventSink {
 public:
  explicit SlowSink(std::shared_future<void> gate) : gate_(std::move(gate)) {}

  absl::Status Append(const EventLines& /*lines*/,
                      absl::Time /*now*/) override {
    gate_.wait();
    return absl::OkStatus();
  }
  absl::Status RemoveOld(absl::Time /*now*/) override {
    return absl::OkStatus();
  }
  const std::string& name() const override { return name_; }
  std::int64_t num_bytes() const override { return 0; }

 private:
  const std::string name_ = "the slow sink";
  const std::shared_future<void> gate_;
};

TEST_F(EventLogTest, ASinkThatHangsEndsTheWaitOfReports) {
  std::promise<void> gate;
  options_.max_report_wait = absl::Milliseconds(20);
  Open(std::make_unique<SlowSink>(gate.get_future().share()));
  // The first one is being written, the second one is queued or refused.
  for (const char* id : {"1", "2"}) {
    const ReportOutcome late = Report({.events = {Click("list", id)}});
    EXPECT_EQ(ErrorReason(late.status), "EVENTS_UNAVAILABLE");
    EXPECT_THAT(late.status,
                StatusIs(absl::StatusCode::kUnavailable,
                         HasSubstr("the slow sink has not answered for 20ms")));
  }
  while (!log_->is_failing()) std::this_thread::yield();
  EXPECT_THAT(log_->AddImpression({}, 1), SizeIs(22));
  gate.set_value();
  while (!Report({.events = {Click("list", "3")}}).status.ok()) {
  }
  // Earlier copies of it may still be written.
  while (log_->is_failing()) std::this_thread::yield();
  // What was written after all is known: a repetition is not kept again.
  EXPECT_EQ(Report({.events = {Click("list", "1")}}).num_duplicates, 1u);
}

// Keeps what it gets, and takes lines of at most 300 bytes.
class SmallSink final : public EventSink {
 public:
  absl::Status Append(const EventLines& lines, absl::Time /*now*/) override {
    if (fails_) return absl::UnavailableError("away");
    for (std::size_t i = 0; i < lines.size(); ++i) {
      lines_.emplace_back(lines.impression(i), lines.line(i));
    }
    return absl::OkStatus();
  }
  void Fail() { fails_ = true; }
  std::size_t max_line_bytes() const override { return 300; }
  absl::Status RemoveOld(absl::Time /*now*/) override {
    return absl::OkStatus();
  }
  const std::string& name() const override { return name_; }
  std::int64_t num_bytes() const override { return 0; }

  // Impressions and lines.
  const std::vector<std::pair<std::string, std::string>>& lines() const {
    return lines_;
  }

 private:
  const std::string name_ = "the small sink";
  std::atomic<bool> fails_ = false;
  std::vector<std::pair<std::string, std::string>> lines_;
};

TEST_F(EventLogTest, AReportWithARecordThatIsTooLargeIsRefused) {
  auto sink = std::make_unique<SmallSink>();
  const auto& lines = sink->lines();
  Open(std::move(sink));
  const std::string long_query(1'000, 'x');
  const ReportOutcome refused =
      Report({.events = {Click("a", "1")},
              .impressions = {{.id = "a"},
                              {.id = "b", .query = long_query},
                              {.id = "c", .query = long_query}}});
  EXPECT_THAT(refused.status, StatusIs(absl::StatusCode::kInvalidArgument,
                                       HasSubstr("impressions[1]: makes a")));
  EXPECT_EQ(ErrorReason(refused.status), "INVALID_FIELD");
  EXPECT_EQ(log_->counters().num_events(), 0);
  EXPECT_EQ(log_->counters().num_impressions(), 0);
  EXPECT_EQ(log_->counters().num_dropped(), 0);
  EXPECT_THAT(lines, SizeIs(0));
  EXPECT_EQ(log_->num_too_large(), 1);
  // The same event is not a repetition, and its line has the list's id.
  EXPECT_THAT(Report({.events = {Click("a", "1")}}).status, IsOk());
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(lines[0].first, "a");
  EXPECT_FALSE(log_->is_failing());
}

TEST_F(EventLogTest, AnImpressionThatIsTooLargeIsDropped) {
  auto sink = std::make_unique<SmallSink>();
  const auto& lines = sink->lines();
  Open(std::move(sink));
  log_->AddImpression({.query = std::string(1'000, 'x'), .ranker = "m/1"}, 1);
  const std::string id = log_->AddImpression({.query = "shoe"}, 1);
  EXPECT_THAT(Report({.events = {Click(id)}}).status, IsOk());
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(lines[0].first, id);
  EXPECT_EQ(log_->counters().num_dropped(), 1);
  EXPECT_EQ(log_->counters().num_impressions(), 1);
  EXPECT_EQ(log_->num_too_large(), 1);
}

TEST_F(EventLogTest, ASinkThatFailedFailsUntilItTookARecord) {
  auto sink = std::make_unique<SmallSink>();
  sink->Fail();
  Open(std::move(sink));
  EXPECT_EQ(ErrorReason(Report({.events = {Click("a")}}).status),
            "EVENTS_UNAVAILABLE");
  const std::string long_query(1'000, 'x');
  EXPECT_EQ(
      ErrorReason(
          Report({.impressions = {{.id = "b", .query = long_query}}}).status),
      "INVALID_FIELD");
  EXPECT_TRUE(log_->is_failing());
}

TEST_F(EventLogTest, TheKeyIsForItsOwnerAlone) {
  EXPECT_EQ(
      std::filesystem::status(Folder() + "/key").permissions(),
      std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(EventLogTest, MetricsSayWhatWasWritten) {
  Report({.events = {Click("a"), {.impression = "a", .kind = "basket"}},
          .impressions = {{.id = "a"}}});
  const std::string text = metrics_->Render();
  for (const char* line : {"semrank_events_total{kind=\"click\"} 1",
                           "semrank_events_total{kind=\"other\"} 1",
                           "semrank_event_clicks_total{position=\"1\"} 1",
                           "semrank_impressions_total{result=\"written\"} 1"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST_F(EventLogTest, ListsAndClickedListsCountByModelVersion) {
  const std::string clicked = log_->AddImpression({.ranker = "shop/3"}, 10);
  log_->AddImpression({.ranker = "shop/3"}, 10);
  log_->AddImpression({.ranker = "shop/3", .ranker_b = "new/1"}, 10);
  Event second = Click(clicked);
  second.position = 2;
  Event unknown = Click(clicked);
  unknown.position = 0;
  unknown.document = "7";
  const auto rendered = [&](std::string_view line) {
    return HasSubstr("semrank_ranked_lists" + std::string(line));
  };
  Report({.events = {unknown}});
  EXPECT_THAT(metrics_->Render(),
              AllOf(rendered("_total{name=\"shop\",version=\"3\"} 2\n"),
                    rendered("_clicked_total{name=\"shop\",version=\"3\","
                             "within=\"10\"} 0\n"),
                    rendered("_clicked_total{name=\"shop\",version=\"3\","
                             "within=\"all\"} 1\n")));
  // The same list counts once, however often it is clicked.
  Report({.events = {second, second, Click("elsewhere")}});
  EXPECT_THAT(metrics_->Render(),
              AllOf(rendered("_clicked_total{name=\"shop\",version=\"3\","
                             "within=\"1\"} 0\n"),
                    rendered("_clicked_total{name=\"shop\",version=\"3\","
                             "within=\"3\"} 1\n"),
                    rendered("_clicked_total{name=\"shop\",version=\"3\","
                             "within=\"all\"} 1\n")));
}

TEST(RankerCountersTest, RankersBeyondTheCapCountAsOther) {
  Metrics metrics;
  RankerCounters counters(metrics);
  const absl::Time now = absl::Now();
  const auto ranker = [](std::size_t i) { return "shop/" + std::to_string(i); };
  const std::uint32_t first = counters.CountList(ranker(1), now);
  for (std::size_t i = 2; i <= RankerCounters::kMaxRankers + 2; ++i) {
    counters.CountList(ranker(i), now);
  }
  EXPECT_EQ(counters.CountList(ranker(1), now), first);
  EXPECT_EQ(counters.CountClick(first, 0, 1), 0b1111);
  EXPECT_THAT(
      metrics.Render(),
      AllOf(HasSubstr(
                "semrank_ranked_lists_total{name=\"shop\",version=\"1\"} 2\n"),
            HasSubstr("semrank_ranked_lists_total{name=\"other\"} 2\n")));
}

TEST(RankerCountersTest, AnIdleRankerIsReplaced) {
  Metrics metrics;
  RankerCounters counters(metrics);
  const absl::Time now = absl::Now();
  const absl::Time later = now + RankerCounters::kMinIdle;
  const std::uint32_t first = counters.CountList("old/1", now);
  const std::uint32_t second = counters.CountList("old/2", now);
  for (std::size_t i = 3; i <= RankerCounters::kMaxRankers; ++i) {
    counters.CountList("new/" + std::to_string(i), later);
  }
  EXPECT_EQ(counters.CountList("old/1", later), first);
  EXPECT_GT(counters.CountList("new/1", later), second);
  EXPECT_EQ(counters.CountClick(second, 0, 1), 0);
  const std::string text = metrics.Render();
  EXPECT_THAT(text, HasSubstr("name=\"old\",version=\"1\""));
  EXPECT_THAT(text, HasSubstr("name=\"new\",version=\"1\""));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("version=\"2\"")));
}

TEST(RecentIdsTest, TheLatestAreRemembered) {
  RecentIds<std::uint32_t> ids(10);
  for (std::uint32_t i = 0; i < 100; ++i) ids.Add(std::to_string(i), i);
  for (std::uint32_t i = 90; i < 100; ++i) {
    EXPECT_EQ(ids.Find(std::to_string(i)), i);
  }
  EXPECT_EQ(ids.Find("70"), std::nullopt);
}

}  // namespace
}  // namespace semrank
