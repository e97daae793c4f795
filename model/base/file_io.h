// Whole files: read, map, and write so that a crash leaves the old one.
//
//   Errors   NotFound for a missing file; otherwise the code that fits errno,
//            with the path and the system's reason in the message.
//   Threads  free functions, from any thread.
#ifndef SEMRANK_MODEL_BASE_FILE_IO_H_
#define SEMRANK_MODEL_BASE_FILE_IO_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace semrank {

// The status of a failed system call on `path`: "open /x: No such file ...".
absl::Status ErrnoStatus(int error_number, std::string_view action,
                         std::string_view path);

// ResourceExhausted when the file is larger than `max_bytes`.
absl::StatusOr<std::string> ReadFile(const std::string& path,
                                     std::size_t max_bytes);

// Writes `path` anew and syncs it to disk. Not atomic: for files inside a
// folder that is itself renamed into place.
absl::Status WriteFile(const std::string& path, std::string_view content);

// Writes to a temporary name beside `path`, syncs, renames, syncs the folder:
// after a crash at any moment `path` is the old file or the whole new one.
absl::Status ReplaceFile(const std::string& path, std::string_view content);

// Makes names created in, renamed into or removed from `directory` durable.
absl::Status SyncDirectory(const std::string& directory);

// A read-only view of a whole file, shared with the page cache. The file must
// not be cut short while mapped (published files never change).
class MappedFile {
 public:
  static absl::StatusOr<std::shared_ptr<const MappedFile>> Open(
      const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view content() const { return content_; }

 private:
  explicit MappedFile(std::string_view content) : content_(content) {}
  std::string_view content_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_FILE_IO_H_
