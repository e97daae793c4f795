// Records of User Behavior Insights 1.3 (ubisearch.dev), as OpenSearch's
// JavaScript client sends them and its indices ubi_queries and ubi_events keep
// them.
//
//   query_id     the id of the impression. Records without one belong to no
//                list and are ignored.
//   action_name  makes a record an event, and is its kind: click_through is
//                click, purchase is conversion; others in lower case, with _
//                for what kinds may not have.
//   position     event_attributes.position.ordinal, from 1.
//   document     event_attributes.object.object_id; query_response_hit_ids.
//   timestamp    ISO 8601, without a zone UTC, or milliseconds since 1970;
//                missing = 0.
//   client_id    the user; session_id the session; application the ranker.
//   No effect    the other members.
#ifndef SEMRANK_MODEL_EVENTS_UBI_H_
#define SEMRANK_MODEL_EVENTS_UBI_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/data/input_lines.h"
#include "model/events/event.h"

namespace semrank {

struct UbiRecords {
  // Session and user are as the application named them: they must be hashed
  // before they are written. Titles are empty, as UBI has none.
  std::vector<EventRecord> records;
  std::int64_t num_ignored = 0;
};

// Parses records and reuses its memory. Not thread-safe.
class UbiParser {
 public:
  UbiParser();
  ~UbiParser();

  // `json` is one record or an array of them, each also as an index of
  // OpenSearch exports it ({"_source": record}). InvalidArgument says which
  // record is wrong and how.
  absl::StatusOr<UbiRecords> Parse(std::string_view json);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct UbiImportOptions {
  // Files of JSON lines, plain, .gz or .zst, each line as UbiParser reads it.
  std::vector<std::string> paths = {};
  std::string folder = {};  // is created if it is missing
  BadLineLimit max_bad_lines = {};
  // Exports are in any order, so that their records are sorted in memory.
  std::size_t max_bytes = std::size_t{8} << 30;
};

struct ImportedRecords {
  std::int64_t impressions = 0;
  std::int64_t events = 0;
  std::int64_t ignored = 0;  // without query_id
  std::int64_t bad_lines = 0;
  std::vector<std::string> files = {};  // that were written
};

// Turns exports of OpenSearch's indices ubi_queries and ubi_events into a
// folder of events. Writes the records in order of time, with sessions and
// users hashed by the folder's key, into a file for each hour, named after its
// first record. So the retention of a server removes each record at its age.
//
//   Errors   FailedPrecondition while a server writes in the folder.
//            AlreadyExists if the first file exists: the same records were
//            imported before. ResourceExhausted if they need more memory. A
//            record without timestamp, or that UbiParser refuses, is a bad
//            line.
absl::StatusOr<ImportedRecords> ImportUbi(const UbiImportOptions& options);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVENTS_UBI_H_
