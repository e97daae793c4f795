#include "model/events/event_writer.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cstddef>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/events/event_files.h"
#include "model/events/event_frames.h"

namespace semrank {

// flock, since the system releases it when the process ends, however it ends.
// The file stays: were it removed, a program could lock a file that others no
// longer find.
absl::StatusOr<FileDescriptor> LockEventFolder(const std::string& folder) {
  SEMRANK_ASSIGN_OR_RETURN(
      FileDescriptor lock,
      FileDescriptor::Open(absl::StrFormat("%s/%s", folder, kEventLockFile),
                           O_RDWR | O_CREAT | O_NOFOLLOW, kEventFileMode));
  if (flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  return absl::FailedPreconditionError(absl::StrFormat(
      "%s: a server (--events) or another program writes there; stop it first",
      folder));
}

// A frame has whole lines, so a reader of whole frames never sees half a line.
absl::Status EventFrameWriter::Add(std::string_view line) {
  // A reader keeps one frame in memory. Small frames compress less.
  constexpr std::size_t kFrameBytes = std::size_t{1} << 20;
  is_empty_ = false;
  lines_ += line;
  lines_ += '\n';
  return lines_.size() < kFrameBytes ? absl::OkStatus() : Finish();
}

absl::Status EventFrameWriter::Finish() {
  if (lines_.empty()) return absl::OkStatus();
  std::string frame;
  AppendEventFrame(lines_, frame);
  lines_.clear();
  return file_.Write(frame);
}

}  // namespace semrank
