// Reads and atomically replaces whole files.
//
//   Errors   NotFound for a missing file, FailedPrecondition for reading a pipe
//            or a device; otherwise the code that fits errno, with the path and
//            the system's reason in the message.
//   Threads  the free functions are thread-safe.
#ifndef SEMRANK_MODEL_BASE_FILE_IO_H_
#define SEMRANK_MODEL_BASE_FILE_IO_H_

#include <sys/types.h>

#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/base/file_descriptor.h"

namespace semrank {

// ResourceExhausted when the file is larger than `max_bytes`.
absl::StatusOr<std::string> ReadFile(const std::string& path,
                                     std::size_t max_bytes);

// Creates or truncates `path`, which must not be a symbolic link, writes and
// syncs it. Not atomic: meant for files in a folder that is itself renamed into
// place.
absl::Status WriteFile(const std::string& path, std::string_view content);

// FailedPrecondition when `path` is a device, a pipe or a folder: renaming a
// file over it would destroy it.
absl::Status CheckReplaceable(const std::string& path);

// Replaces a file atomically: the content goes to a temporary file beside it,
// which is synced and renamed. After a crash at any moment `path` is the old
// file or the whole new one. A symbolic link is replaced, not followed.
//
//   Threads  not thread-safe. Several replacements of one path may run at once;
//            the last Commit wins.
//   Errors   as FileDescriptor's. After an error, or without Commit, the old
//            file stays and the temporary one is removed.
class FileReplacement {
 public:
  // The new file gets `mode` minus the process's umask, from the start. Errors
  // of CheckReplaceable.
  static absl::StatusOr<FileReplacement> Create(const std::string& path,
                                                mode_t mode = 0666);
  FileReplacement(FileReplacement&& other) noexcept
      : file_(std::move(other.file_)),
        path_(std::move(other.path_)),
        pending_(std::exchange(other.pending_, false)) {}
  FileReplacement& operator=(FileReplacement&&) = delete;
  ~FileReplacement();

  absl::Status Write(std::string_view content) const {
    return file_.Write(content);
  }
  // Renames the temporary file to `path`. Call this once, after the last Write.
  absl::Status Commit();

 private:
  FileReplacement(FileDescriptor file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}

  FileDescriptor file_;
  std::string path_;
  bool pending_ = true;
};

// Replaces a file by one Write of a FileReplacement.
absl::Status ReplaceFile(const std::string& path, std::string_view content);

// Syncs `directory`, so that files created, renamed or removed in it stay so
// after a crash.
absl::Status SyncDirectory(const std::string& directory);
// As SyncDirectory, of the directory that has `path`.
absl::Status SyncParent(const std::string& path);

// Removes a file; a missing one is no error.
absl::Status RemoveFile(const std::string& path);

// The content of a whole file, read into private memory: what happens to the
// file afterwards, a truncation for instance, does not matter. (A memory map
// would show the change, or end the process by SIGBUS.)
//
//   Memory   read-only, aligned to a page; huge pages where the system has
//   them.
class LoadedFile {
 public:
  // ResourceExhausted, before anything is read, when the file is larger than
  // `max_bytes`. DataLoss when it shrinks while it is read.
  static absl::StatusOr<std::shared_ptr<const LoadedFile>> Read(
      const std::string& path,
      std::size_t max_bytes = std::numeric_limits<std::size_t>::max());
  ~LoadedFile();
  LoadedFile(const LoadedFile&) = delete;
  LoadedFile& operator=(const LoadedFile&) = delete;

  std::string_view content() const { return {data_, size_}; }

 private:
  LoadedFile(char* data, std::size_t size) : data_(data), size_(size) {}

  char* data_;  // null for an empty file
  std::size_t size_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_FILE_IO_H_
