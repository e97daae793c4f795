// Decides under which names an HTTP server answers. A web page can let its own
// name resolve to 127.0.0.1 after it was loaded (DNS rebinding). The browser
// then takes a server on loopback for the page's own, and only the Host header
// shows the page's name. Addresses need no check: no page can let an address
// stand for another one.
//
//   Host     "shop.example:8080", "127.0.0.1", "[::1]:8080", as in the header.
#ifndef SEMRANK_SERVER_HTTP_HTTP_HOSTS_H_
#define SEMRANK_SERVER_HTTP_HTTP_HOSTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace semrank {

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

#endif  // SEMRANK_SERVER_HTTP_HTTP_HOSTS_H_
