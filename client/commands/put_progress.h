// How far `semrank put` came, over all runs that a state file continues.
#ifndef SEMRANK_CLIENT_COMMANDS_PUT_PROGRESS_H_
#define SEMRANK_CLIENT_COMMANDS_PUT_PROGRESS_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "client/bulk/resumable_file.h"

namespace semrank {

// What became of the documents, in all runs that the state file continues.
struct PutCounts {
  std::int64_t num_created = 0;
  std::int64_t num_replaced = 0;
  std::int64_t num_refused = 0;
  std::int64_t num_bad_lines = 0;
  // The server has responded up to this line.
  std::int64_t last_line = 0;
  // Lines that follow an error of the file. The state file does not keep them,
  // since the run that continues reads them.
  std::int64_t num_unread_lines = 0;

  std::int64_t num_skipped_lines() const {
    return num_bad_lines + num_unread_lines;
  }
  std::int64_t num_documents() const {
    return num_created + num_replaced + num_refused;
  }
};

// Keeps the counts in a state file, so that the same command continues after an
// interruption. Save is called once for each block of documents: the next run
// puts at most one block again, and these documents replace themselves.
//
//   Errors   those of the file, with its name. Call Read first, once.
//   Threads  not thread-safe.
class SavedProgress {
 public:
  // Empty = no file: Save and Remove do nothing.
  explicit SavedProgress(std::string path) : path_(std::move(path)) {}

  // Sets `counts` to those of the earlier run, and says so on standard error;
  // leaves them as they are if there is no file. FailedPrecondition if that run
  // had another `identity`: other documents, options or another server.
  absl::Status Read(nlohmann::ordered_json identity, PutCounts& counts);
  // Replaces the file atomically.
  absl::Status Save(const PutCounts& counts);
  // Removes the file of a run that is complete.
  absl::Status Remove() const;

 private:
  const std::string path_;
  ResumableState state_;
};

}  // namespace semrank

#endif  // SEMRANK_CLIENT_COMMANDS_PUT_PROGRESS_H_
