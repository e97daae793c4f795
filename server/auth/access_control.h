// Access control: which calls a caller may make, by the keys of --api_keys_file
// and their roles.
#ifndef SEMRANK_SERVER_AUTH_ACCESS_CONTROL_H_
#define SEMRANK_SERVER_AUTH_ACCESS_CONTROL_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/base/mutex.h"

namespace semrank {

enum class Role { kRead, kWrite, kAdmin };

// The keys of one file.
//
//   File     one key a line: role, blank, SHA-256 of the key as 64 hex digits;
//            empty lines and what follows a # are skipped. Each role may do
//            what the ones before it may.
//   Hash     plain SHA-256 is enough for random keys of 128 bits and more,
//            which no attacker can enumerate. Salt and slow hashing protect
//            passwords that people choose; here they would only cost every
//            call.
//   Secrets  a key is never stored, logged or repeated in an error.
//   Threads  const after construction.
class ApiKeys {
 public:
  // InvalidArgument naming the line, never its content; also for a file
  // without keys, with which no call could succeed.
  static absl::StatusOr<ApiKeys> Parse(std::string_view content);

  // `authorization` is the header of that name, "Bearer KEY"; empty = none.
  // Unauthenticated MISSING_KEY or UNKNOWN_KEY, PermissionDenied ROLE_REQUIRED.
  absl::Status Check(std::string_view authorization, Role required) const;

  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Role role = Role::kRead;
    std::string sha256_hex;
  };

  std::vector<Entry> entries_;
};

// Those keys, read again when the file changes.
//
//   Threads  Check from any thread; Refresh from one at a time.
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
  // new keys are in force. An error, returned once a change, leaves the old
  // keys.
  absl::StatusOr<bool> Refresh();

  std::size_t num_keys() const { return keys()->size(); }

  // For the log: "key 1a2b3c4d", the first digits of the key's SHA-256 as they
  // stand in the file. "" without a key.
  static std::string NameOfKey(std::string_view authorization);

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
