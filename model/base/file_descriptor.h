// Owns a file descriptor and closes it. System calls that a signal interrupts
// are repeated.
//
//   Threads  not thread-safe.
//   Errors   as ErrnoStatus: the call, the path, the system's reason.
//   Waiting  opening never waits. Reading a pipe or a device waits for data
//            until the process is interrupted (interrupt.h).
#ifndef SEMRANK_MODEL_BASE_FILE_DESCRIPTOR_H_
#define SEMRANK_MODEL_BASE_FILE_DESCRIPTOR_H_

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace semrank {

// The status of a failed system call on `path`: "open /x: No such file ...".
// Its code fits `error_number`, such as NotFound for ENOENT.
absl::Status ErrnoStatus(int error_number, std::string_view action,
                         std::string_view path);

class FileDescriptor {
 public:
  // `flags` as of open(2); O_CLOEXEC and O_NONBLOCK are added. New files get
  // `mode` minus the process's umask.
  static absl::StatusOr<FileDescriptor> Open(const std::string& path, int flags,
                                             mode_t mode = 0666);
  // Opens a file of configuration, credentials or a model for reading. Returns
  // FailedPrecondition for a pipe or a device.
  static absl::StatusOr<FileDescriptor> OpenRegular(const std::string& path);
  // Takes ownership of an open descriptor, such as a socket. `name` stands for
  // the path in error messages.
  static FileDescriptor Own(int fd, std::string name) {
    return {fd, std::move(name)};
  }
  // Descriptor 0, which the destructor leaves open.
  static absl::StatusOr<FileDescriptor> StandardInput();

  FileDescriptor(FileDescriptor&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)),
        path_(std::move(other.path_)),
        may_wait_(other.may_wait_) {}
  FileDescriptor& operator=(FileDescriptor&&) = delete;
  ~FileDescriptor();

  int get() const { return fd_; }
  const std::string& path() const { return path_; }

  // Reads up to `capacity` bytes; returns 0 at the end of the file, and
  // Cancelled if the process is interrupted before a pipe or a device has data.
  absl::StatusOr<std::size_t> Read(char* buffer, std::size_t capacity) const;
  // Writes all of `content`.
  absl::Status Write(std::string_view content) const;
  // Flushes written data to disk (fsync). No error where that has no meaning,
  // as for a pipe.
  absl::Status Sync() const;
  // Size of a regular file; nullopt for pipes, folders and devices.
  absl::StatusOr<std::optional<std::size_t>> RegularFileSize() const;

 private:
  FileDescriptor(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  // Sets may_wait_.
  absl::Status Examine();
  // Waits until there is data or the end of the file.
  absl::Status WaitForData() const;

  int fd_;
  std::string path_;
  bool may_wait_ = false;  // neither a regular file nor a folder
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_FILE_DESCRIPTOR_H_
