#include "server/http/http_origins.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "model/base/strings.h"
#include "server/base/errors.h"

namespace semrank {
namespace {

// HOST[:PORT] of SCHEME://HOST[:PORT]; empty = it is no origin of that form.
std::string_view AuthorityOf(std::string_view origin) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return origin.substr(scheme.size());
  }
  return {};
}

}  // namespace

// The browser sets both headers; a page cannot forge them.
bool IsSameOrigin(std::string_view origin, std::string_view host) {
  const std::string_view authority = AuthorityOf(origin);
  return !authority.empty() &&
         absl::EqualsIgnoreCase(ToAbsl(authority), ToAbsl(host));
}

bool IsAllowedOrigin(std::string_view origin,
                     const std::vector<std::string>& allowed) {
  return std::ranges::any_of(allowed, [&](const std::string& one) {
    return one == "*" || absl::EqualsIgnoreCase(one, ToAbsl(origin));
  });
}

absl::Status OriginNotAllowed(const std::string& origin) {
  // A page that was opened as a file has the origin "null".
  const std::string flag_value = origin == "null" ? "*" : origin;
  return MakeError(
      absl::StatusCode::kPermissionDenied, "ORIGIN_NOT_ALLOWED",
      absl::StrFormat("calls of web pages of %s are not allowed; to allow "
                      "them, start the server with --cors_origins=%s",
                      origin, flag_value),
      {{"flag", "cors_origins"}, {"origin", origin}});
}

absl::Status CheckOrigins(const std::vector<std::string>& origins) {
  for (const std::string& origin : origins) {
    const std::string_view authority = AuthorityOf(origin);
    if (origin != "*" &&
        (authority.empty() ||
         authority.find_first_of("/?# \t\r\n") != std::string_view::npos)) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "\"%s\" must be * or SCHEME://HOST[:PORT] without a path", origin));
    }
  }
  return absl::OkStatus();
}

}  // namespace semrank
