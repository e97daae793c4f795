#include "model/base/file_descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/str_format.h"
#include "model/base/interrupt.h"
#include "model/base/status_macros.h"

namespace semrank {

absl::Status ErrnoStatus(int error_number, std::string_view action,
                         std::string_view path) {
  const absl::Status status =
      absl::ErrnoToStatus(error_number, absl::StrFormat("%s %s", action, path));
  // Abseil makes an unknown error of a path whose links form a circle.
  if (error_number != ELOOP) return status;
  return absl::FailedPreconditionError(status.message());
}

absl::StatusOr<FileDescriptor> FileDescriptor::Open(const std::string& path,
                                                    int flags, mode_t mode) {
  int fd;
  do {
    // O_NONBLOCK, because opening a named pipe would wait for its other end,
    // even after Ctrl-C. It means nothing for regular files; Read polls before
    // it reads anything else.
    fd = open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, mode);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0 && errno == ELOOP && (flags & O_NOFOLLOW) != 0) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "open %s: a symbolic link, which is not followed", path));
  }
  if (fd < 0) return ErrnoStatus(errno, "open", path);
  FileDescriptor file(fd, path);
  SEMRANK_RETURN_IF_ERROR(file.Examine());
  return file;
}

absl::StatusOr<FileDescriptor> FileDescriptor::OpenRegular(
    const std::string& path) {
  SEMRANK_ASSIGN_OR_RETURN(FileDescriptor file, Open(path, O_RDONLY));
  SEMRANK_ASSIGN_OR_RETURN(const std::optional<std::size_t> size,
                           file.RegularFileSize());
  if (size.has_value()) return file;
  return absl::FailedPreconditionError(
      absl::StrFormat("open %s: not a regular file", path));
}

absl::StatusOr<FileDescriptor> FileDescriptor::StandardInput() {
  FileDescriptor file(STDIN_FILENO, "-");
  SEMRANK_RETURN_IF_ERROR(file.Examine());
  return file;
}

absl::Status FileDescriptor::Examine() {
  struct stat info;
  if (fstat(fd_, &info) != 0) return ErrnoStatus(errno, "stat", path_);
  // poll would always report regular files and folders as ready.
  may_wait_ = !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
  return absl::OkStatus();
}

FileDescriptor::~FileDescriptor() {
  // Errors of close are ignored: what must be durable was synced before.
  // -1: the descriptor was moved from. 0: standard input, which is not ours.
  if (fd_ > STDIN_FILENO) close(fd_);
}

absl::StatusOr<std::size_t> FileDescriptor::Read(char* buffer,
                                                 std::size_t capacity) const {
  ssize_t count;
  // EAGAIN after poll: another process that reads the same pipe was faster.
  do {
    if (may_wait_) SEMRANK_RETURN_IF_ERROR(WaitForData());
    count = read(fd_, buffer, capacity);
  } while (count < 0 && (errno == EINTR || errno == EAGAIN));
  if (count < 0) return ErrnoStatus(errno, "read", path_);
  return static_cast<std::size_t>(count);
}

absl::Status FileDescriptor::WaitForData() const {
  // The signal may be delivered to another thread, which does not end poll.
  constexpr int kPollMilliseconds = 100;
  while (!Interrupted()) {
    pollfd waiting = {.fd = fd_, .events = POLLIN, .revents = 0};
    const int num_ready = poll(&waiting, 1, kPollMilliseconds);
    if (num_ready > 0) return absl::OkStatus();
    if (num_ready < 0 && errno != EINTR) {
      return ErrnoStatus(errno, "wait for", path_);
    }
  }
  return absl::CancelledError(
      absl::StrFormat("interrupted while reading %s", path_));
}

absl::Status FileDescriptor::Write(std::string_view content) const {
  while (!content.empty()) {
    const ssize_t count = write(fd_, content.data(), content.size());
    if (count >= 0) {
      content.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return ErrnoStatus(errno, "write", path_);
    }
  }
  return absl::OkStatus();
}

absl::Status FileDescriptor::Sync() const {
  // EINVAL: a pipe or a device, which has nothing to sync. EROFS: the file
  // system is read-only, so nothing can be lost.
  if (fsync(fd_) != 0 && errno != EINVAL && errno != EROFS) {
    return ErrnoStatus(errno, "sync", path_);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<std::size_t>> FileDescriptor::RegularFileSize()
    const {
  struct stat info;
  if (fstat(fd_, &info) != 0) return ErrnoStatus(errno, "stat", path_);
  if (!S_ISREG(info.st_mode)) return std::optional<std::size_t>();
  return std::optional<std::size_t>(static_cast<std::size_t>(info.st_size));
}

}  // namespace semrank
