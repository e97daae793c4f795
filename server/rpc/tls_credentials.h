// gRPC credentials that present the newest certificates in each handshake, so
// that renewed files take effect without a restart and without a lost
// connection.
//
// gRPC 1.51 has a file watcher of its own, but it accepts a new certificate
// beside an old key. TlsCertificates checks each pair first.
//
//   Threads  gRPC asks for certificates in any of its threads.
#ifndef SEMRANK_SERVER_RPC_TLS_CREDENTIALS_H_
#define SEMRANK_SERVER_RPC_TLS_CREDENTIALS_H_

#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "server/auth/tls_files.h"

namespace semrank {

// For one listening port. With a client CA, clients must present a certificate.
// Both the credentials and `certificates` must outlive the server.
std::shared_ptr<grpc::ServerCredentials> MakeTlsCredentials(
    const TlsCertificates& certificates);

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_TLS_CREDENTIALS_H_
