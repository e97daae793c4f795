// The keys of --api_keys_file and what each allows.
//
//   File     one key a line: role, blank, SHA-256 of the key as 64 hex digits;
//            empty lines and what follows a # are skipped. Roles: read, write,
//            admin; each may do what the ones before it may.
//   Hash     plain SHA-256 is enough for random keys of 128 bits and more:
//            nobody can try them all, so salt and slow hashing, which protect
//            passwords that people choose, would only cost every call. Whoever
//            reads the file cannot call with it.
//   Secrets  a key is never stored, logged or repeated in an error.
//   Threads  const after construction.
#ifndef SEMRANK_SERVER_AUTH_API_KEYS_H_
#define SEMRANK_SERVER_AUTH_API_KEYS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace semrank {

enum class Role { kRead, kWrite, kAdmin };

class ApiKeys {
 public:
  // InvalidArgument naming the line, never its content; also for a file
  // without keys, which would let nobody in.
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

}  // namespace semrank

#endif  // SEMRANK_SERVER_AUTH_API_KEYS_H_
