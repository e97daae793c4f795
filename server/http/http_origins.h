// Decides which web pages may make calls. Any page that a user opens can send
// requests to servers that the user's browser reaches, loopback included. So
// the server refuses a request whose headers name a page of another origin,
// unless the operator allowed that origin (--cors_origins).
//
//   Origin   "https://shop.example:8443", as browsers write the header.
#ifndef SEMRANK_SERVER_HTTP_HTTP_ORIGINS_H_
#define SEMRANK_SERVER_HTTP_HTTP_ORIGINS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "server/http/http_routes.h"

namespace semrank {

// Returns HOST[:PORT] of SCHEME://HOST[:PORT]; empty for other texts.
std::string_view AuthorityOf(std::string_view origin);

// Whether `origin` is a page of the server that the request's Host names.
// `scheme` is "http" or "https", as the browser spoke to the server.
bool IsSameOrigin(std::string_view origin, std::string_view scheme,
                  std::string_view host);

// `allowed` may contain "*", which allows any origin.
bool IsAllowedOrigin(std::string_view origin,
                     const std::vector<std::string>& allowed);

// PERMISSION_DENIED ORIGIN_NOT_ALLOWED, with the flag that would allow it.
absl::Status OriginNotAllowed(const std::string& origin);

// Lets the page at `origin` read the response and its headers.
void AddCorsHeaders(const std::string& origin, HttpResponse& response);

// The response to a browser that asks whether an allowed page may make a call.
HttpResponse PreflightResponse();

// InvalidArgument unless each is "*" or SCHEME://HOST[:PORT], scheme http or
// https.
absl::Status CheckOrigins(const std::vector<std::string>& origins);

}  // namespace semrank

#endif  // SEMRANK_SERVER_HTTP_HTTP_ORIGINS_H_
