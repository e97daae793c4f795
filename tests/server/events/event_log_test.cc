#include "server/events/event_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "server/base/errors.h"
#include "tests/server/events/full_disk.h"
#include "tests/support/event_folder.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class EventLogTest : public ::testing::Test {
 protected:
  EventLogTest() { Open(); }

  void Open() {
    log_.reset();
    metrics_ = std::make_unique<Metrics>();
    auto files = EventFiles::Open({.folder = Folder()}).value();
    const KeyedHash hash = KeyedHash::OpenOrCreate(Folder()).value();
    log_ =
        std::make_unique<EventLog>(std::move(files), hash, options_, *metrics_);
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
    Impression impression{.query = "secret shoes"};
    log_->Protect({.user = "ann", .session = "ann"}, impression);
    return impression;
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

TEST(RecentIdsTest, TheLatestAreRemembered) {
  RecentIds ids(10);
  for (std::uint32_t i = 0; i < 100; ++i) ids.Add(std::to_string(i), i);
  for (std::uint32_t i = 90; i < 100; ++i) {
    EXPECT_EQ(ids.Find(std::to_string(i)), i);
  }
  EXPECT_EQ(ids.Find("70"), std::nullopt);
}

}  // namespace
}  // namespace semrank
