#include "model/base/file_descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/str_format.h"

namespace semrank {

absl::Status ErrnoStatus(int error_number, std::string_view action,
                         std::string_view path) {
  return absl::ErrnoToStatus(error_number,
                             absl::StrFormat("%s %s", action, path));
}

absl::StatusOr<FileDescriptor> FileDescriptor::Open(const std::string& path,
                                                    int flags, mode_t mode) {
  int fd;
  do {
    fd = open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return ErrnoStatus(errno, "open", path);
  return FileDescriptor(fd, path);
}

FileDescriptor FileDescriptor::StandardInput() {
  return FileDescriptor(STDIN_FILENO, "-");
}

FileDescriptor::~FileDescriptor() {
  // Errors of close are ignored: what must be durable was synced before.
  if (fd_ > STDIN_FILENO) close(fd_);
}

absl::StatusOr<std::size_t> FileDescriptor::Read(char* buffer,
                                                 std::size_t capacity) const {
  ssize_t count;
  do {
    count = read(fd_, buffer, capacity);
  } while (count < 0 && errno == EINTR);
  if (count < 0) return ErrnoStatus(errno, "read", path_);
  return static_cast<std::size_t>(count);
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
