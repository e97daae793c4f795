#include "model/base/file_replacement.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>

#include "absl/strings/str_format.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

// Creates a file beside `path` that nobody else uses. The name is never taken
// over from a file or link that is there already.
absl::StatusOr<FileDescriptor> CreateTemporary(const std::string& path,
                                               mode_t mode) {
  static std::atomic<int> counter = 0;
  constexpr int kMaxTries = 1000;
  for (int tries = 1;; ++tries) {
    absl::StatusOr<FileDescriptor> file = FileDescriptor::Open(
        absl::StrFormat("%s.tmp-%d-%d", path, getpid(), counter++),
        O_WRONLY | O_CREAT | O_EXCL, mode);
    if (tries == kMaxTries || !absl::IsAlreadyExists(file.status())) {
      return file;
    }
  }
}

}  // namespace

absl::StatusOr<FileReplacement> FileReplacement::Create(const std::string& path,
                                                        mode_t mode) {
  SEMRANK_ASSIGN_OR_RETURN(FileDescriptor file, CreateTemporary(path, mode));
  return FileReplacement(std::move(file), path);
}

FileReplacement::~FileReplacement() {
  if (pending_) unlink(file_.path().c_str());
}

absl::Status FileReplacement::Commit() {
  // Data before name: otherwise a crash can leave the new name on an empty
  // file.
  SEMRANK_RETURN_IF_ERROR(file_.Sync());
  if (std::rename(file_.path().c_str(), path_.c_str()) != 0) {
    return ErrnoStatus(errno, "rename to", path_);
  }
  pending_ = false;
  const std::string parent =
      std::filesystem::path(path_).parent_path().string();
  return SyncDirectory(parent.empty() ? "." : parent);
}

}  // namespace semrank
