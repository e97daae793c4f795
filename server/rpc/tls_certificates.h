// The server's certificates, taken anew at each handshake, so that replaced
// files are in force without a restart and no connection is lost.
//
// gRPC 1.51 has a file watcher of its own, but that one takes whatever is in
// the files, also a new certificate beside an old key. Here a pair is checked
// first, and until a good one is there the old one is shown.
//
//   Threads  handshakes from any thread; Refresh from one at a time.
#ifndef SEMRANK_SERVER_RPC_TLS_CERTIFICATES_H_
#define SEMRANK_SERVER_RPC_TLS_CERTIFICATES_H_

#include <grpc/grpc_security.h>
#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "model/base/mutex.h"
#include "server/auth/tls_files.h"

namespace semrank {

class TlsCertificates {
 public:
  // The error of ReadTlsFiles.
  static absl::StatusOr<std::unique_ptr<TlsCertificates>> FromFiles(
      const TlsFiles& files);
  TlsCertificates(const TlsCertificates&) = delete;
  TlsCertificates& operator=(const TlsCertificates&) = delete;

  // Reads the files again if they have changed since they were last looked at.
  // True = new ones are in force. An error, told once a change, leaves the old
  // ones.
  absl::StatusOr<bool> Refresh();

  // For one listening port; with a client CA clients must show a certificate.
  // This object must outlive the server.
  std::shared_ptr<grpc::ServerCredentials> MakeCredentials();

 private:
  explicit TlsCertificates(TlsFiles files) : files_(std::move(files)) {}

  static grpc_ssl_certificate_config_reload_status Fetch(
      void* self, grpc_ssl_server_certificate_config** config);
  grpc_ssl_certificate_config_reload_status FetchIfNew(
      grpc_ssl_server_certificate_config** config);

  const TlsFiles files_;
  std::string stamp_;  // of the files when they were last looked at
  Mutex mutex_;
  TlsContent content_ ABSL_GUARDED_BY(mutex_);
  bool handed_out_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_TLS_CERTIFICATES_H_
