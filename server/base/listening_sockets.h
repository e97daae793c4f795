// Sockets that listen for TCP connections at HOST:PORT.
//
//   Host     a name (all its addresses), an IPv4 address, or an IPv6 address
//            in brackets; 0.0.0.0 and [::] are all addresses of both kinds.
//   Port     0 = any free one. A port that is in use is an error: ports are not
//            shared.
//   Errors   the error of the system, with the address.
//   Blocks   while a name is looked up.
#ifndef SEMRANK_SERVER_BASE_LISTENING_SOCKETS_H_
#define SEMRANK_SERVER_BASE_LISTENING_SOCKETS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/base/file_descriptor.h"

namespace semrank {

struct ListeningSockets {
  std::vector<FileDescriptor> sockets = {};  // at least one; non-blocking
  std::string address = {};  // HOST:PORT with the port that is in use
};

absl::StatusOr<ListeningSockets> ListenAt(const std::string& address);

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_LISTENING_SOCKETS_H_
