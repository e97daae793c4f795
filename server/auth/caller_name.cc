#include "server/auth/caller_name.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "model/base/strings.h"
#include "server/auth/access_control.h"

namespace semrank {
namespace {

constexpr std::string_view kKeyPrefix = "key:";
constexpr std::string_view kIpv6Prefix = "ipv6:";

// "[2001:db8::1]", or "%5B2001:db8::1%5D" as gRPC writes it, to the name of its
// network; as it is if it is not an address.
std::string Ipv6Network(std::string_view host) {
  std::string text = absl::StrReplaceAll(
      ToAbsl(host), {{"%5B", ""}, {"%5D", ""}, {"[", ""}, {"]", ""}});
  text.resize(std::min(text.find('%'), text.size()));  // the interface
  in6_addr address;
  if (inet_pton(AF_INET6, text.c_str(), &address) != 1) return text;
  // A host may use every address of its network of 64 bits. With a name for
  // each address, it could have any number of shares.
  constexpr std::size_t kNetworkBytes = 8;
  return absl::BytesToHexString(absl::string_view(
      reinterpret_cast<const char*>(&address), kNetworkBytes));
}

}  // namespace

std::string PeerOf(int socket) {
  sockaddr_storage peer;
  socklen_t size = sizeof(peer);
  auto* const address = reinterpret_cast<sockaddr*>(&peer);
  // Fails when the client has closed the connection in the meantime.
  if (getpeername(socket, address, &size) != 0) return "";
  char host[NI_MAXHOST] = "";
  char port[NI_MAXSERV] = "";
  getnameinfo(address, size, host, sizeof(host), port, sizeof(port),
              NI_NUMERICHOST | NI_NUMERICSERV);
  const std::string_view name(host);
  if (peer.ss_family == AF_INET)
    return absl::StrFormat("ipv4:%s:%s", host, port);
  // A socket of both kinds shows IPv4 clients so.
  constexpr std::string_view kMapped = "::ffff:";
  return name.starts_with(kMapped)
             ? absl::StrFormat("ipv4:%s:%s", name.substr(kMapped.size()), port)
             : absl::StrFormat("ipv6:[%s]:%s", name, port);
}

std::string CallerName(const AccessControl* access,
                       std::string_view authorization, std::string_view peer) {
  if (access != nullptr) {
    return absl::StrCat(ToAbsl(kKeyPrefix),
                        AccessControl::NameOfKey(authorization));
  }
  // Peers of other kinds ("unix:") have no port.
  const bool is_ipv6 = peer.starts_with(kIpv6Prefix);
  if (!is_ipv6 && !peer.starts_with("ipv4:")) return std::string(peer);
  // Without the port: more connections must not give a client more shares.
  const std::string_view address = peer.substr(0, peer.rfind(':'));
  if (!is_ipv6) return std::string(address);
  return absl::StrCat(ToAbsl(kIpv6Prefix),
                      Ipv6Network(address.substr(kIpv6Prefix.size())));
}

std::string_view KeyOfCaller(std::string_view caller) {
  if (!caller.starts_with(kKeyPrefix)) return {};
  return caller.substr(kKeyPrefix.size());
}

}  // namespace semrank
