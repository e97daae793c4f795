#include "server/rpc/external_connections.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <utility>

namespace semrank {

SocketTransfer::Accept AcceptExternalConnections(
    grpc::ServerBuilder& builder,
    std::shared_ptr<grpc::ServerCredentials> credentials,
    absl::Duration handshake_timeout) {
  builder.AddChannelArgument(
      GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
      static_cast<int>(absl::ToInt64Milliseconds(handshake_timeout)));
  using Builder = grpc::ServerBuilder::experimental_type;
  // gRPC returns a unique_ptr, and std::function must be able to copy what it
  // captures.
  const std::shared_ptr<grpc::experimental::ExternalConnectionAcceptor>
      acceptor = builder.experimental().AddExternalConnectionAcceptor(
          Builder::ExternalConnectionType::FROM_FD, std::move(credentials));
  return [acceptor](int fd) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters
        connection;
    connection.fd = fd;
    acceptor->HandleNewConnection(&connection);
  };
}

}  // namespace semrank
