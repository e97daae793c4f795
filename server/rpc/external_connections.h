// Lets a gRPC server serve the connections that a ConnectionListener accepts.
#ifndef SEMRANK_SERVER_RPC_EXTERNAL_CONNECTIONS_H_
#define SEMRANK_SERVER_RPC_EXTERNAL_CONNECTIONS_H_

#include <memory>

#include "absl/time/time.h"
#include "server/rpc/socket_transfer.h"

namespace grpc {
class ServerBuilder;
class ServerCredentials;
}  // namespace grpc

namespace semrank {

// How long a peer may take for the handshakes of TLS and HTTP/2. With gRPC's
// own two minutes, silent connections would occupy their places for as long.
inline constexpr absl::Duration kHandshakeTimeout = absl::Seconds(20);

// How long a connection may stay open. Clients connect again without losing a
// call, and then find new replicas; peers that make no calls do not hold a
// place for ever.
inline constexpr absl::Duration kMaxConnectionAge = absl::Hours(1);

// Replaces the server's own listening port. The result is for
// ConnectionListener::Start once the server runs, and must not be called once
// it is shut down. gRPC closes connections whose handshakes exceed
// `handshake_timeout`.
SocketTransfer::Accept AcceptExternalConnections(
    grpc::ServerBuilder& builder,
    std::shared_ptr<grpc::ServerCredentials> credentials,
    absl::Duration handshake_timeout);

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_EXTERNAL_CONNECTIONS_H_
