#include "server/http/http_origins.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "model/base/strings.h"
#include "server/base/errors.h"
#include "server/base/request_identity.h"

namespace semrank {
namespace {

// How long browsers may keep the answer to a preflight.
constexpr int kPreflightSeconds = 600;

}  // namespace

std::string_view AuthorityOf(std::string_view origin) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return origin.substr(scheme.size());
  }
  return {};
}

// The browser sets both headers; a page cannot forge them. The page of
// http://shop.example may come from anybody on the way, so it is not one of
// https://shop.example.
bool IsSameOrigin(std::string_view origin, std::string_view scheme,
                  std::string_view host) {
  const std::string_view authority = AuthorityOf(origin);
  return !authority.empty() &&
         absl::EqualsIgnoreCase(
             ToAbsl(origin), absl::StrCat(ToAbsl(scheme), "://", ToAbsl(host)));
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

// Names the page's own origin, since --cors_origins may allow several and the
// header takes one.
void AddCorsHeaders(const std::string& origin, HttpResponse& response) {
  response.headers.emplace_back("Access-Control-Allow-Origin", origin);
  response.headers.emplace_back("Vary", "Origin");
  response.headers.emplace_back(
      "Access-Control-Expose-Headers",
      absl::StrCat("Retry-After, ", kRequestIdHeader.data(), ", ",
                   kTraceparentHeader.data()));
}

HttpResponse PreflightResponse() {
  return {
      .status = 204,
      .headers = {{"Access-Control-Allow-Methods", "GET, POST"},
                  {"Access-Control-Allow-Headers",
                   absl::StrCat("Authorization, Content-Type, ",
                                kRequestIdHeader.data(), ", ",
                                kTraceparentHeader.data())},
                  {"Access-Control-Max-Age", absl::StrCat(kPreflightSeconds)}}};
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
