#include "server/auth/access_control.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <array>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "model/base/file_io.h"
#include "model/base/line_reader.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/format/sha256.h"
#include "server/base/errors.h"

namespace semrank {
namespace {

// In the order of Role.
constexpr std::array<std::string_view, 4> kRoleNames = {
    "read", "write", "admin", "write-events"};
constexpr std::string_view kScheme = "Bearer ";
// Two for each of the 32 bytes of a SHA-256.
constexpr std::size_t kHexDigits = 64;

std::optional<Role> ParseRole(std::string_view name) {
  for (std::size_t i = 0; i < kRoleNames.size(); ++i) {
    if (name == kRoleNames[i]) return static_cast<Role>(i);
  }
  return std::nullopt;
}

bool Includes(Role role, Role required) {
  // write-events is meant for back ends that face browsers. It includes no
  // other role, and of the others only admin includes it.
  if (role == Role::kWriteEvents || required == Role::kWriteEvents) {
    return role == required || role == Role::kAdmin;
  }
  return role >= required;  // the others are ordered
}

bool IsSha256(const std::string& hex) {
  return hex.size() == kHexDigits &&
         hex.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Names the line, never its content: a user may have put a plain key there.
absl::Status LineError(int line_number, std::string_view reason) {
  return absl::InvalidArgumentError(
      absl::StrFormat("line %d: %s", line_number, reason));
}

absl::Status Unauthenticated(std::string_view reason,
                             std::string_view message) {
  return MakeError(absl::StatusCode::kUnauthenticated, reason, message);
}

// Some 14,000 keys; every call compares with all of them.
constexpr std::size_t kMaxKeyFileBytes = std::size_t{1} << 20;

absl::StatusOr<ApiKeys> ReadKeys(const std::string& path) {
  SEMRANK_ASSIGN_OR_RETURN(const std::string content,
                           ReadFile(path, kMaxKeyFileBytes));
  absl::StatusOr<ApiKeys> keys = ApiKeys::Parse(content);
  if (keys.ok()) return keys;
  return absl::InvalidArgumentError(
      absl::StrFormat("%s: %s", path, keys.status().message()));
}

}  // namespace

absl::StatusOr<ApiKeys> ApiKeys::Parse(std::string_view content) {
  ApiKeys keys;
  int line_number = 0;
  for (std::string line : std::vector<std::string>(
           absl::StrSplit(ToAbsl(WithoutByteOrderMark(content)), '\n'))) {
    ++line_number;
    // A comment may follow the key on its line.
    line.resize(std::min(line.find('#'), line.size()));
    const std::vector<std::string> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    if (words.empty()) continue;
    const std::optional<Role> role = ParseRole(words[0]);
    if (!role.has_value()) {
      return LineError(line_number,
                       "must begin with read, write, admin or "
                       "write-events");
    }
    // Other programs than sha256sum may write capital digits.
    const std::string hash =
        words.size() == 2 ? absl::AsciiStrToLower(words[1]) : "";
    if (!IsSha256(hash)) {
      return LineError(line_number,
                       "after the role there must be one SHA-256, 64 hex "
                       "digits");
    }
    keys.entries_.push_back({*role, hash});
  }
  // A file that was emptied by mistake must not lock every caller out silently.
  if (keys.entries_.empty()) {
    return absl::InvalidArgumentError("there is no key in it");
  }
  return keys;
}

absl::Status ApiKeys::Check(std::string_view authorization,
                            Role required) const {
  if (authorization.empty()) {
    return Unauthenticated("MISSING_KEY",
                           "the call needs \"authorization: Bearer KEY\"");
  }
  if (!absl::StartsWithIgnoreCase(ToAbsl(authorization), ToAbsl(kScheme))) {
    return Unauthenticated("MISSING_KEY",
                           "\"authorization\" must be \"Bearer KEY\"");
  }
  // The name of a scheme does not depend on case (RFC 7235, section 2.1); the
  // key after it does.
  authorization.remove_prefix(kScheme.size());
  // Comparing hashes already hides how much of a key was right.
  SEMRANK_ASSIGN_OR_RETURN(const std::string hash, Sha256Hex(authorization));
  // The loop compares with every line, each in constant time, so that the time
  // of a call does not say which line it is. A key that is listed twice has the
  // role of its last line.
  std::optional<Role> role;
  for (const Entry& entry : entries_) {
    if (CRYPTO_memcmp(entry.sha256_hex.data(), hash.data(), kHexDigits) == 0) {
      role = entry.role;
    }
  }
  if (!role.has_value()) {
    return Unauthenticated("UNKNOWN_KEY", "the key is not known");
  }
  // From here on the caller is known, so the error may say what its key lacks.
  if (Includes(*role, required)) return absl::OkStatus();
  const std::string name(kRoleNames[static_cast<int>(required)]);
  return MakeError(absl::StatusCode::kPermissionDenied, "ROLE_REQUIRED",
                   absl::StrFormat("the key does not have the %s role", name),
                   {{"role", name}});
}

AccessControl::AccessControl(const std::string& path)
    : WatchedFiles({path}, [path] { return ReadKeys(path); }) {}

absl::StatusOr<std::unique_ptr<AccessControl>> AccessControl::FromFile(
    const std::string& path) {
  std::unique_ptr<AccessControl> access(new AccessControl(path));
  SEMRANK_RETURN_IF_ERROR(access->Refresh().status());
  return access;
}

std::string AccessControl::NameOfKey(std::string_view authorization) {
  constexpr std::size_t kShownDigits = 8;
  if (authorization.size() <= kScheme.size()) return "";
  const absl::StatusOr<std::string> hash =
      Sha256Hex(authorization.substr(kScheme.size()));
  return hash.ok() ? hash->substr(0, kShownDigits) : "";
}

}  // namespace semrank
