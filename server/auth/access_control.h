// Access control: which calls a caller may make, by the keys of --api_keys_file
// and their roles.
#ifndef SEMRANK_SERVER_AUTH_ACCESS_CONTROL_H_
#define SEMRANK_SERVER_AUTH_ACCESS_CONTROL_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/base/watched_files.h"

namespace semrank {

// A key that reports events may do nothing else, because back ends that face
// browsers hold it.
enum class Role { kRead, kWrite, kAdmin, kWriteEvents };

// The keys of one file.
//
//   File     one key a line: role, blank, SHA-256 of the key as 64 hex digits;
//            empty lines and what follows a # are skipped.
//   Roles    a writer may do what a reader may. A write-events key may report
//            events and do nothing else. An administrator may do all.
//   Hash     plain SHA-256 is enough for random keys of 128 bits and more,
//            which no attacker can enumerate. Salt and slow hashing protect
//            passwords that people choose; here they would only cost every
//            call.
//   Secrets  a key is never stored, logged or repeated in an error.
//   Threads  const after construction.
class ApiKeys {
 public:
  // InvalidArgument names the line, never its content. A file without keys is
  // refused too: no call could succeed.
  static absl::StatusOr<ApiKeys> Parse(std::string_view content);

  // `authorization` is the header of that name, "Bearer KEY"; empty = none.
  // Returns Unauthenticated (MISSING_KEY, UNKNOWN_KEY) or PermissionDenied
  // (ROLE_REQUIRED).
  absl::Status Check(std::string_view authorization, Role required) const;

  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Role role = Role::kRead;
    std::string sha256_hex;
  };

  std::vector<Entry> entries_;
};

// The keys of a file that is read again when it changes.
class AccessControl : public WatchedFiles<ApiKeys> {
 public:
  // Returns the error of the file, or InvalidArgument with the file and the
  // line.
  static absl::StatusOr<std::unique_ptr<AccessControl>> FromFile(
      const std::string& path);

  // As ApiKeys::Check, by the keys that are in force.
  absl::Status Check(std::string_view authorization, Role required) const {
    return current()->Check(authorization, required);
  }
  std::size_t num_keys() const { return current()->size(); }

  // The key's name in the log: the first digits of its SHA-256 as they stand in
  // the file. "" without a key.
  static std::string NameOfKey(std::string_view authorization);

 private:
  explicit AccessControl(const std::string& path);
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_AUTH_ACCESS_CONTROL_H_
