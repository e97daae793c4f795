// Sockets that listen for TCP connections at HOST:PORT.
//
//   Host     a name (all its addresses), an IPv4 address, or an IPv6 one in
//            brackets; 0.0.0.0 and [::] are all addresses of both kinds.
//   Port     0 = any free one. A port that is in use is an error:
//            ports are not shared.
//   Errors   what the system says, with the address.
//   Threads  free function, from any thread; looking up a name may block.
#ifndef SEMRANK_SERVER_BASE_LISTENING_SOCKETS_H_
#define SEMRANK_SERVER_BASE_LISTENING_SOCKETS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/base/file_descriptor.h"

namespace semrank {

struct ListeningSockets {
  std::vector<FileDescriptor> sockets = {};  // at least one; non-blocking
  std::string address = {};  // as asked for, with the port that is in use
};

absl::StatusOr<ListeningSockets> ListenAt(const std::string& address);

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_LISTENING_SOCKETS_H_
