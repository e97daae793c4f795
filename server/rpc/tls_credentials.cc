#include "server/rpc/tls_credentials.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>

#include <utility>

#include "model/base/mutex.h"

namespace semrank {
namespace {

// gRPC's C++ classes take fixed certificates only; its C interface asks for new
// ones before each handshake.
class RenewedCredentials final : public grpc::ServerCredentials {
 public:
  explicit RenewedCredentials(const TlsCertificates& certificates)
      : certificates_(certificates),
        credentials_(grpc_ssl_server_credentials_create_with_options(
            grpc_ssl_server_credentials_create_options_using_config_fetcher(
                certificates.asks_clients()
                    ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                    : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE,
                &RenewedCredentials::Fetch, this))) {}
  ~RenewedCredentials() override {
    grpc_server_credentials_release(credentials_);
  }

  // Calls check API keys themselves.
  // Pure virtual in gRPC 1.51.
  void SetAuthMetadataProcessor(
      const std::shared_ptr<grpc::AuthMetadataProcessor>& /*processor*/)
      override {}

 private:
  int AddPortToServer(const std::string& address,
                      grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), credentials_);
  }

  static grpc_ssl_certificate_config_reload_status Fetch(
      void* self, grpc_ssl_server_certificate_config** config) {
    return static_cast<RenewedCredentials*>(self)->FetchIfNew(config);
  }
  // Called by gRPC's threads for each handshake.
  grpc_ssl_certificate_config_reload_status FetchIfNew(
      grpc_ssl_server_certificate_config** config);

  const TlsCertificates& certificates_;
  grpc_server_credentials* const credentials_;
  Mutex mutex_;
  std::shared_ptr<const TlsContent> fetched_ ABSL_GUARDED_BY(mutex_);
};

grpc_ssl_certificate_config_reload_status RenewedCredentials::FetchIfNew(
    grpc_ssl_server_certificate_config** config) {
  MutexLock lock(mutex_);
  const std::shared_ptr<const TlsContent> content = certificates_.current();
  // gRPC keeps the last configuration, so an unchanged one is not parsed again
  // for each handshake. Comparing pointers is enough: each renewal is a new
  // object, and fetched_ keeps this one's address from being reused.
  if (std::exchange(fetched_, content) == content) {
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
  }
  const grpc_ssl_pem_key_cert_pair pair = {content->key.c_str(),
                                           content->cert.c_str()};
  // gRPC 1.51 aborts without roots, even where it does not ask clients for a
  // certificate and never uses them.
  const std::string& roots =
      content->client_ca.empty() ? content->cert : content->client_ca;
  *config = grpc_ssl_server_certificate_config_create(roots.c_str(), &pair, 1);
  return *config != nullptr ? GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW
                            : GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_FAIL;
}

}  // namespace

std::shared_ptr<grpc::ServerCredentials> MakeTlsCredentials(
    const TlsCertificates& certificates) {
  return std::make_shared<RenewedCredentials>(certificates);
}

}  // namespace semrank
