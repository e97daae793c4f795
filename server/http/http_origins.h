// Decides which web pages may make calls, and under which names the server
// answers.
//
// Any page that a user opens can send requests to servers that the user's
// browser reaches, loopback included. So the server refuses a request whose
// headers name a page of another origin, unless the operator allowed that
// origin (--cors_origins). A page can also let its own name resolve to
// 127.0.0.1 after it was loaded (DNS rebinding). The browser then takes a
// server on loopback for the page's own, and only the Host header shows the
// page's name. Addresses need no check: no page can let an address stand for
// another one.
//
//   Origin   "https://shop.example:8443", as browsers write the header.
//   Host     "shop.example:8080", "127.0.0.1", "[::1]:8080", as in the header.
#ifndef SEMRANK_SERVER_HTTP_HTTP_ORIGINS_H_
#define SEMRANK_SERVER_HTTP_HTTP_ORIGINS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "server/http/http_routes.h"

namespace semrank {

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

// The names that CheckHost allows: `server_names` and the hosts of
// `cors_origins`. "*" among them = every name, as for a server that does not
// listen on loopback and has no `server_names`.
std::vector<std::string> ServedHosts(
    std::string_view http_address, const std::vector<std::string>& server_names,
    const std::vector<std::string>& cors_origins);

// OK when `host` is empty (no browser omits it), an address, localhost, or one
// of `served`, with any port. Otherwise PERMISSION_DENIED HOST_NOT_ALLOWED with
// the flag that would allow it.
absl::Status CheckHost(std::string_view host,
                       const std::vector<std::string>& served);

// InvalidArgument unless each is "*" or a host without a port.
absl::Status CheckServerNames(const std::vector<std::string>& names);

}  // namespace semrank

#endif  // SEMRANK_SERVER_HTTP_HTTP_ORIGINS_H_
