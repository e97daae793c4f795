// Who may call: the keys of a file, read again when it changes.
//
//   Threads  Check from any thread; Refresh from one at a time.
#ifndef SEMRANK_SERVER_AUTH_ACCESS_CONTROL_H_
#define SEMRANK_SERVER_AUTH_ACCESS_CONTROL_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "model/base/mutex.h"
#include "server/auth/api_keys.h"

namespace semrank {

class AccessControl {
 public:
  // The file's error, or InvalidArgument naming the file and the line.
  static absl::StatusOr<std::unique_ptr<AccessControl>> FromFile(
      const std::string& path);
  AccessControl(const AccessControl&) = delete;
  AccessControl& operator=(const AccessControl&) = delete;

  // As ApiKeys::Check, by the keys in force.
  absl::Status Check(std::string_view authorization, Role required) const;

  // Reads the file again if it has changed since it was last looked at. True =
  // new keys are in force. An error, told once a change, leaves the old keys.
  absl::StatusOr<bool> Refresh();

  std::size_t num_keys() const { return keys()->size(); }

 private:
  explicit AccessControl(std::string path) : path_(std::move(path)) {}
  std::shared_ptr<const ApiKeys> keys() const;

  const std::string path_;
  std::string stamp_;  // of the file when it was last looked at
  mutable Mutex mutex_;
  std::shared_ptr<const ApiKeys> keys_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_AUTH_ACCESS_CONTROL_H_
