#include "server/base/listening_sockets.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <memory>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

struct FreeAddresses {
  void operator()(addrinfo* first) const { freeaddrinfo(first); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

// The port must be a number, so that a typo is not looked up in /etc/services.
absl::StatusOr<Addresses> LookUp(const std::string& host,
                                 const std::string& port) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* first = nullptr;
  const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &first);
  if (error != 0) {
    return absl::UnavailableError(
        absl::StrFormat("look up %s: %s", host, gai_strerror(error)));
  }
  return Addresses(first);
}

// Connections inherit these options. The kernel notices a peer that vanished
// after some two minutes and frees its place. Errors are ignored: each option
// improves the socket, none is needed to serve.
void SetOptions(int fd, const addrinfo& at, bool both_kinds) {
  const auto set = [fd](int level, int name, int value) {
    setsockopt(fd, level, name, &value, sizeof(value));
  };
  // Without SO_REUSEADDR a restarted server could not bind while connections of
  // its predecessor are in TIME_WAIT. On Linux it does not let two servers
  // share a port.
  set(SOL_SOCKET, SO_REUSEADDR, 1);
  // Nagle's algorithm would hold small responses until the client acknowledges
  // the previous packet.
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  // 60 s idle and four probes at intervals of 15 s: two minutes.
  set(IPPROTO_TCP, TCP_KEEPIDLE, 60);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 15);
  set(IPPROTO_TCP, TCP_KEEPCNT, 4);
  // Both cases set it, because its default is a setting of the machine
  // (net.ipv6.bindv6only).
  if (at.ai_family == AF_INET6) {
    set(IPPROTO_IPV6, IPV6_V6ONLY, both_kinds ? 0 : 1);
  }
}

in_port_t& PortOf(sockaddr* address) {
  return address->sa_family == AF_INET6
             ? reinterpret_cast<sockaddr_in6*>(address)->sin6_port
             : reinterpret_cast<sockaddr_in*>(address)->sin_port;
}

// The port in network byte order.
in_port_t BoundPort(const FileDescriptor& socket) {
  sockaddr_storage bound = {};
  socklen_t size = sizeof(bound);
  auto* const address = reinterpret_cast<sockaddr*>(&bound);
  getsockname(socket.get(), address, &size);
  return PortOf(address);
}

// Appends a socket that listens at `at`; returns 0 or errno.
int Add(const addrinfo& at, bool both_kinds,
        std::vector<FileDescriptor>& sockets) {
  FileDescriptor fd = FileDescriptor::Own(
      socket(at.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "");
  if (fd.get() < 0) return errno;
  SetOptions(fd.get(), at, both_kinds);
  // Every address of a name gets the port that the first one got.
  if (!sockets.empty()) PortOf(at.ai_addr) = BoundPort(sockets.front());
  if (bind(fd.get(), at.ai_addr, at.ai_addrlen) != 0) return errno;
  if (listen(fd.get(), SOMAXCONN) != 0) return errno;
  sockets.push_back(std::move(fd));
  return 0;
}

// Skips addresses of a kind that this machine does not have, as long as there
// is another. A port that is in use is an error.
absl::StatusOr<std::vector<FileDescriptor>> ListenAtAll(const std::string& host,
                                                        const std::string& port,
                                                        bool both_kinds) {
  SEMRANK_ASSIGN_OR_RETURN(const Addresses addresses, LookUp(host, port));
  std::vector<FileDescriptor> sockets;
  int error = 0;
  for (const addrinfo* at = addresses.get(); at != nullptr; at = at->ai_next) {
    const int failure = Add(*at, both_kinds, sockets);
    // A name often has an IPv4 and an IPv6 address. Serving only one of them
    // because a foreign process has the other would split the clients between
    // two programs. With port 0 the system chose the port at the first address;
    // the second address is skipped if another process has that port there.
    if (failure == EADDRINUSE && port != "0") {
      return ErrnoStatus(failure, "listen on",
                         absl::StrFormat("%s:%s", host, port));
    }
    if (failure != 0) error = failure;
  }
  if (sockets.empty()) {
    return ErrnoStatus(error, "listen on", host + ":" + port);
  }
  return sockets;
}

}  // namespace

absl::StatusOr<ListeningSockets> ListenAt(const std::string& address) {
  // The last colon precedes the port: an IPv6 address in brackets has colons of
  // its own.
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) {
    return absl::InvalidArgumentError(address + " is not HOST:PORT");
  }
  std::string host = address.substr(0, colon);
  const std::string port = address.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  // One IPv6 socket accepts IPv4 connections too (as mapped addresses). Two
  // sockets would need the same free port when the port is 0.
  const bool both_kinds = host == "0.0.0.0" || host == "::";
  auto sockets = ListenAtAll(both_kinds ? "::" : host, port, both_kinds);
  if (both_kinds && !sockets.ok()) {  // the machine may have no IPv6
    sockets = ListenAtAll("0.0.0.0", port, both_kinds);
  }
  SEMRANK_RETURN_IF_ERROR(sockets.status());
  const int bound_port = ntohs(BoundPort(sockets->front()));
  return ListeningSockets{
      *std::move(sockets),
      absl::StrFormat("%s:%d", address.substr(0, colon), bound_port)};
}

}  // namespace semrank
