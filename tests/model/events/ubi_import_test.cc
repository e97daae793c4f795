#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_format.h"
#include "model/events/click_join.h"
#include "model/events/event_files.h"
#include "model/events/keyed_hash.h"
#include "model/events/ubi.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class UbiImportTest : public ::testing::Test {
 protected:
  UbiImportOptions Options() const {
    return {.paths = {dir_.File("queries.ndjson"), dir_.File("events.ndjson")},
            .folder = dir_.File("out")};
  }

  TempDir dir_;
};

// An export has any order: the queries first, the latest of them first.
TEST_F(UbiImportTest, RecordsAreJoinedWhateverTheirOrder) {
  dir_.Write("queries.ndjson",
             R"({"query_id": "q2", "client_id": "c", "user_query": "tent",)"
             R"( "timestamp": "2026-11-02T10:00:00Z",)"
             R"( "query_response_hit_ids": ["7"]})"
             "\n\n"
             R"({"query_id": "q1", "client_id": "c", "user_query": "shoe",)"
             R"( "timestamp": "2026-11-01T10:00:00Z",)"
             R"( "query_response_hit_ids": ["8", "9"]})"
             "\n");
  dir_.Write("events.ndjson",
             R"({"action_name": "click", "query_id": "q1",)"
             R"( "timestamp": "2026-11-01T10:01:00Z", "event_attributes":)"
             R"( {"object": {"object_id": "9"}}})"
             "\n"
             R"({"action_name": "click", "query_id": "q2"})"
             "\n"
             R"({"action_name": "page_exit"})"
             "\n");
  ASSERT_OK_AND_ASSIGN(const ImportedRecords imported, ImportUbi(Options()));
  EXPECT_EQ(imported.impressions, 2);
  EXPECT_EQ(imported.events, 1);
  EXPECT_EQ(imported.bad_lines, 1);  // without timestamp
  EXPECT_EQ(imported.ignored, 1);
  EXPECT_THAT(
      imported.files,
      ElementsAre(
          dir_.File("out/events-20261101T100000.000Z-000000.jsonl.zst"),
          dir_.File("out/events-20261102T100000.000Z-000000.jsonl.zst")));
  ASSERT_OK_AND_ASSIGN(const auto hash, KeyedHash::Open(dir_.File("out")));
  ClickJoin join({});
  EventFileCounts counts;
  ASSERT_THAT(ForEachEvent(
                  {dir_.File("out")}, 0,
                  [&](EventRecord& record) {
                    if (auto* list = std::get_if<Impression>(&record)) {
                      EXPECT_EQ(list->user, hash(HashedKind::kUser, "c"));
                    }
                    return join.Add(record);
                  },
                  counts),
              IsOk());
  ASSERT_THAT(join.Finish(), IsOk());
  EXPECT_EQ(join.counts().lists, 2);
  EXPECT_EQ(join.counts().clicks, 1);
}

TEST_F(UbiImportTest, SameRecordsAreNotImportedTwice) {
  const std::string query =
      R"({"query_id": "q", "user_query": "x", "timestamp": 1700000000000})"
      "\n";
  dir_.Write("queries.ndjson", query);
  dir_.Write("events.ndjson", "");
  EXPECT_THAT(ImportUbi(Options()), IsOk());
  EXPECT_THAT(ImportUbi(Options()), StatusIs(absl::StatusCode::kAlreadyExists,
                                             HasSubstr("imported before")));
}

// Two shops may have records of the same millisecond, later than the first.
TEST_F(UbiImportTest, ExportsWithEqualTimesShareAFolder) {
  dir_.Write("events.ndjson", "");
  for (const int first : {1, 2}) {
    dir_.Write("queries.ndjson",
               absl::StrFormat(
                   R"({"query_id": "q%d", "user_query": "x", "timestamp": %d})"
                   "\n"
                   R"({"query_id": "p%d", "user_query": "x",)"
                   R"( "timestamp": 1700000000000})"
                   "\n",
                   first, first, first));
    ASSERT_OK_AND_ASSIGN(const ImportedRecords imported, ImportUbi(Options()));
    EXPECT_THAT(imported.files, SizeIs(2));
  }
  ASSERT_OK_AND_ASSIGN(const auto files, ListEventFiles(dir_.File("out")));
  EXPECT_THAT(files, SizeIs(4));
}

TEST_F(UbiImportTest, TooManyRecordsAreAnError) {
  dir_.Write("queries.ndjson",
             R"({"query_id": "q", "user_query": "x", "timestamp": 1})"
             "\n");
  dir_.Write("events.ndjson", "");
  UbiImportOptions options = Options();
  options.max_bytes = 10;
  EXPECT_THAT(ImportUbi(options), StatusIs(absl::StatusCode::kResourceExhausted,
                                           HasSubstr("fewer days")));
}

TEST_F(UbiImportTest, AReportWithARecordWithoutTimeIsDropped) {
  dir_.Write("queries.ndjson",
             R"({"query_id": "q", "user_query": "x", "timestamp": 1})"
             "\n");
  dir_.Write("events.ndjson",
             R"({"action_name": "click", "query_id": "q", "timestamp": 3})"
             "\n"
             R"([{"action_name": "click", "query_id": "q", "timestamp": 2},)"
             R"( {"action_name": "click", "query_id": "q"}])"
             "\n");
  ASSERT_OK_AND_ASSIGN(const ImportedRecords imported, ImportUbi(Options()));
  EXPECT_EQ(imported.impressions, 1);
  EXPECT_EQ(imported.events, 1);
  EXPECT_EQ(imported.bad_lines, 1);
}

}  // namespace
}  // namespace semrank
