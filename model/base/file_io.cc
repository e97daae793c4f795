#include "model/base/file_io.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <span>

#include "absl/strings/str_format.h"
#include "model/base/huge_pages.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

absl::Status TooLarge(const std::string& path, std::size_t max_bytes) {
  return absl::ResourceExhaustedError(
      absl::StrFormat("%s: larger than the %d bytes allowed", path, max_bytes));
}

// Creates a new file beside `path`. With O_EXCL an existing file or a symbolic
// link of that name is never written to; the next number is tried. Folders of
// events find what a killed process left by this name (event_writer.cc).
absl::StatusOr<FileDescriptor> CreateTemporary(const std::string& path,
                                               mode_t mode) {
  // The process id separates processes; the counter separates replacements of
  // one path in this process.
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

absl::Status ReadAll(const FileDescriptor& file, std::span<char> content) {
  while (!content.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(const std::size_t count,
                             file.Read(content.data(), content.size()));
    if (count == 0) {
      return absl::DataLossError(
          absl::StrFormat("%s: shrank while it was read", file.path()));
    }
    content = content.subspan(count);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path,
                                     std::size_t max_bytes) {
  SEMRANK_ASSIGN_OR_RETURN(const FileDescriptor file,
                           FileDescriptor::OpenRegular(path));
  SEMRANK_ASSIGN_OR_RETURN(const std::optional<std::size_t> size,
                           file.RegularFileSize());
  if (size.value_or(0) > max_bytes) return TooLarge(path, max_bytes);
  std::string content;
  content.reserve(size.value_or(0));
  // The size is only a hint: the file may be growing.
  char buffer[1 << 14];
  while (true) {
    SEMRANK_ASSIGN_OR_RETURN(const std::size_t count,
                             file.Read(buffer, sizeof(buffer)));
    if (count == 0) return content;
    // Not content.size() + count > max_bytes, which may overflow.
    if (count > max_bytes - content.size()) return TooLarge(path, max_bytes);
    content.append(buffer, count);
  }
}

absl::Status WriteFile(const std::string& path, std::string_view content) {
  SEMRANK_ASSIGN_OR_RETURN(
      const FileDescriptor file,
      FileDescriptor::Open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW));
  SEMRANK_RETURN_IF_ERROR(file.Write(content));
  return file.Sync();
}

absl::Status CheckReplaceable(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status) ||
      std::filesystem::is_regular_file(status)) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrFormat("%s: not a regular file", path));
}

absl::StatusOr<FileReplacement> FileReplacement::Create(const std::string& path,
                                                        mode_t mode) {
  SEMRANK_RETURN_IF_ERROR(CheckReplaceable(path));
  SEMRANK_ASSIGN_OR_RETURN(FileDescriptor file, CreateTemporary(path, mode));
  return FileReplacement(std::move(file), path);
}

FileReplacement::~FileReplacement() {
  if (pending_) unlink(file_.path().c_str());
}

absl::Status FileReplacement::Commit() {
  // The data must reach the disk before the name: otherwise a crash can leave
  // the new name on an empty file.
  SEMRANK_RETURN_IF_ERROR(file_.Sync());
  if (std::rename(file_.path().c_str(), path_.c_str()) != 0) {
    return ErrnoStatus(errno, "rename to", path_);
  }
  pending_ = false;
  return SyncParent(path_);
}

absl::Status ReplaceFile(const std::string& path, std::string_view content) {
  SEMRANK_ASSIGN_OR_RETURN(FileReplacement replacement,
                           FileReplacement::Create(path));
  SEMRANK_RETURN_IF_ERROR(replacement.Write(content));
  return replacement.Commit();
}

absl::Status SyncDirectory(const std::string& directory) {
  SEMRANK_ASSIGN_OR_RETURN(
      const FileDescriptor file,
      FileDescriptor::Open(directory, O_RDONLY | O_DIRECTORY));
  return file.Sync();
}

absl::Status SyncParent(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return SyncDirectory(parent.empty() ? "." : parent);
}

absl::Status RemoveFile(const std::string& path) {
  return unlink(path.c_str()) == 0 || errno == ENOENT
             ? absl::OkStatus()
             : ErrnoStatus(errno, "remove", path);
}

absl::StatusOr<std::shared_ptr<const LoadedFile>> LoadedFile::Read(
    const std::string& path, std::size_t max_bytes) {
  SEMRANK_ASSIGN_OR_RETURN(const FileDescriptor file,
                           FileDescriptor::OpenRegular(path));
  SEMRANK_ASSIGN_OR_RETURN(const std::optional<std::size_t> size,
                           file.RegularFileSize());
  if (size.value_or(0) > max_bytes) return TooLarge(path, max_bytes);
  if (size.value_or(0) == 0) {
    // mmap refuses length 0.
    return std::shared_ptr<const LoadedFile>(new LoadedFile(nullptr, 0));
  }
  // Weights are gathered from all over the file.
  void* const memory = MapHugePages(*size);
  if (memory == nullptr) return ErrnoStatus(errno, "memory for", path);
  const std::shared_ptr<const LoadedFile> loaded(
      new LoadedFile(static_cast<char*>(memory), *size));
  SEMRANK_RETURN_IF_ERROR(ReadAll(file, {loaded->data_, loaded->size_}));
  // A stray write crashes instead of changing the weights that are served.
  if (mprotect(memory, *size, PROT_READ) != 0) {
    return ErrnoStatus(errno, "protect the content of", path);
  }
  return loaded;
}

LoadedFile::~LoadedFile() {
  if (data_ != nullptr) munmap(data_, size_);
}

}  // namespace semrank
