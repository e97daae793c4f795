// Lets a gRPC server take the connections that a ConnectionListener accepts.
#ifndef SEMRANK_SERVER_RPC_EXTERNAL_CONNECTIONS_H_
#define SEMRANK_SERVER_RPC_EXTERNAL_CONNECTIONS_H_

#include <memory>

#include "absl/time/time.h"
#include "server/rpc/hand_over.h"

namespace grpc {
class ServerBuilder;
class ServerCredentials;
}  // namespace grpc

namespace semrank {

// What a peer may take to say what TLS and HTTP/2 begin with. gRPC's own two
// minutes would let silent connections keep others out for as long.
inline constexpr absl::Duration kHandshakeTimeout = absl::Seconds(20);

// How long a connection may stay. Clients connect again without losing a call,
// and meet new replicas then; peers that make no calls do not hold a place for
// ever.
inline constexpr absl::Duration kMaxConnectionAge = absl::Hours(1);

// Instead of a listening port of the server's own. What is returned is for
// ConnectionListener::Start once the server runs, and must not be called once
// it is shut down. Connections on which the peer has not said what HTTP/2 (and
// TLS) begin with within `handshake_timeout` are closed.
HandOver::Take TakeConnections(
    grpc::ServerBuilder& builder,
    std::shared_ptr<grpc::ServerCredentials> credentials,
    absl::Duration handshake_timeout);

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_EXTERNAL_CONNECTIONS_H_
