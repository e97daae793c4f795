// Contents of files that are read again when the files change.
#ifndef SEMRANK_MODEL_BASE_WATCHED_FILES_H_
#define SEMRANK_MODEL_BASE_WATCHED_FILES_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "model/base/mutex.h"

namespace semrank {

// Changes when the content of a file does, or when another file takes its name,
// also through a symbolic link on the way. A missing file has a stamp too.
std::string FileStamps(const std::vector<std::string>& paths);

//   Threads  current() is thread-safe; one thread at a time calls Refresh.
template <typename Content>
class WatchedFiles {
 public:
  using Read = std::function<absl::StatusOr<Content>()>;

  // `read` reads `paths` and checks what it read.
  WatchedFiles(std::vector<std::string> paths, Read read)
      : paths_(std::move(paths)), read_(std::move(read)) {}
  WatchedFiles(const WatchedFiles&) = delete;
  WatchedFiles& operator=(const WatchedFiles&) = delete;

  // Reads the files if they have changed since the last call. True = new
  // contents are current. An error, returned once per change, leaves the old
  // ones.
  absl::StatusOr<bool> Refresh() {
    // The stamp is taken before reading, so that the next call notices a change
    // during the read.
    std::string stamp = FileStamps(paths_);
    if (stamp_ == stamp) return false;
    stamp_ = std::move(stamp);
    absl::StatusOr<Content> content = read_();
    if (!content.ok()) {
      // Other errors pass, such as a lack of file descriptors. The change must
      // not be lost then: it may revoke a key.
      if (!absl::IsInvalidArgument(content.status()) &&
          !absl::IsNotFound(content.status())) {
        stamp_.reset();
      }
      return content.status();
    }
    // A caller that uses the old contents keeps them by its shared_ptr.
    auto shared = std::make_shared<const Content>(*std::move(content));
    MutexLock lock(mutex_);
    content_ = std::move(shared);
    return true;
  }

  // A different object after each change; null before the first successful
  // Refresh.
  std::shared_ptr<const Content> current() const {
    MutexLock lock(mutex_);
    return content_;
  }

 private:
  const std::vector<std::string> paths_;
  const Read read_;
  // The files' stamp at the last Refresh, and no value before it, because the
  // stamp of no files is the empty string.
  std::optional<std::string> stamp_;
  mutable Mutex mutex_;
  std::shared_ptr<const Content> content_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_WATCHED_FILES_H_
