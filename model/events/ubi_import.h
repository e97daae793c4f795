// Turns exports of OpenSearch's indices ubi_queries and ubi_events into a
// folder of events.
#ifndef SEMRANK_MODEL_EVENTS_UBI_IMPORT_H_
#define SEMRANK_MODEL_EVENTS_UBI_IMPORT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/data/input_lines.h"

namespace semrank {

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

// Writes the records in order of time, with sessions and users hashed by the
// folder's key, into a file for each hour, named after its first record. So the
// retention of a server removes each record at its age.
//
//   Errors   FailedPrecondition while a server writes in the folder.
//            AlreadyExists if the first file exists: the same records were
//            imported before. ResourceExhausted if they need more memory. A
//            record without timestamp, or that UbiParser refuses, is a bad
//            line.
absl::StatusOr<ImportedRecords> ImportUbi(const UbiImportOptions& options);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVENTS_UBI_IMPORT_H_
