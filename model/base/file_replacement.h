// A new file that takes the place of an old one when it is whole: written under
// a temporary name beside it, synced, renamed. After a crash at any moment
// `path` is the old file or the whole new one.
//
//   Threads  one replacement, one thread at a time.
//   Errors   as FileDescriptor's; after one, or without Commit, the old file
//            stays and the temporary one goes.
#ifndef SEMRANK_MODEL_BASE_FILE_REPLACEMENT_H_
#define SEMRANK_MODEL_BASE_FILE_REPLACEMENT_H_

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/base/file_descriptor.h"

namespace semrank {

class FileReplacement {
 public:
  // The new file gets `mode` minus the process's umask, from the start.
  static absl::StatusOr<FileReplacement> Create(const std::string& path,
                                                mode_t mode = 0666);
  FileReplacement(FileReplacement&& other) noexcept
      : file_(std::move(other.file_)),
        path_(std::move(other.path_)),
        pending_(std::exchange(other.pending_, false)) {}
  FileReplacement& operator=(FileReplacement&&) = delete;
  ~FileReplacement();

  // Appends.
  absl::Status Write(std::string_view content) const {
    return file_.Write(content);
  }
  // Once, after the last Write.
  absl::Status Commit();

 private:
  FileReplacement(FileDescriptor file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}

  FileDescriptor file_;
  std::string path_;
  bool pending_ = true;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_FILE_REPLACEMENT_H_
