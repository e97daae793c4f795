// Writes files of events without a server. The program that does so holds the
// lock of their folder.
#ifndef SEMRANK_MODEL_EVENTS_EVENT_WRITER_H_
#define SEMRANK_MODEL_EVENTS_EVENT_WRITER_H_

#include <sys/types.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/base/file_descriptor.h"
#include "model/base/file_io.h"

namespace semrank {

// Not every account of the machine may read queries.
inline constexpr mode_t kEventFileMode = 0640;

// The file of the lock of a folder of events.
inline constexpr std::string_view kEventLockFile = "lock";

// Takes the lock of a folder of events, until the result is destroyed.
// FailedPrecondition, with the remedy, while a server or another program has
// it.
absl::StatusOr<FileDescriptor> LockEventFolder(const std::string& folder);

// Writes lines as frames of about a megabyte. Errors are those of the file.
//
//   Memory   one frame of lines.
//   Threads  not thread-safe.
class EventFrameWriter {
 public:
  // `file` outlives the writer.
  explicit EventFrameWriter(const FileReplacement& file) : file_(file) {}

  // Adds a line, which has no line break.
  absl::Status Add(std::string_view line);
  // Writes the last frame. Call it before FileReplacement::Commit.
  absl::Status Finish();
  // Whether no line was added.
  bool is_empty() const { return is_empty_; }

 private:
  const FileReplacement& file_;
  std::string lines_;
  bool is_empty_ = true;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVENTS_EVENT_WRITER_H_
