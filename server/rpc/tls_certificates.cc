#include "server/rpc/tls_certificates.h"

#include <grpc/grpc.h>

#include <utility>

#include "model/base/status_macros.h"

namespace semrank {
namespace {

// The C++ library wraps fixed certificates only.
class FetchedCredentials final : public grpc::ServerCredentials {
 public:
  // Takes the reference.
  explicit FetchedCredentials(grpc_server_credentials* credentials)
      : credentials_(credentials) {}
  ~FetchedCredentials() override {
    grpc_server_credentials_release(credentials_);
  }

  // Keys are checked by the calls themselves.
  void SetAuthMetadataProcessor(
      const std::shared_ptr<grpc::AuthMetadataProcessor>& /*processor*/)
      override {}

 private:
  int AddPortToServer(const std::string& address,
                      grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), credentials_);
  }

  grpc_server_credentials* const credentials_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<TlsCertificates>> TlsCertificates::FromFiles(
    const TlsFiles& files) {
  std::unique_ptr<TlsCertificates> certificates(new TlsCertificates(files));
  SEMRANK_RETURN_IF_ERROR(certificates->Refresh().status());
  return certificates;
}

absl::StatusOr<bool> TlsCertificates::Refresh() {
  const std::string stamp = TlsFilesStamp(files_);
  if (std::exchange(stamp_, stamp) == stamp) return false;
  SEMRANK_ASSIGN_OR_RETURN(TlsContent content, ReadTlsFiles(files_));
  MutexLock lock(mutex_);
  content_ = std::move(content);
  handed_out_ = false;
  return true;
}

std::shared_ptr<grpc::ServerCredentials> TlsCertificates::MakeCredentials() {
  return std::make_shared<FetchedCredentials>(
      grpc_ssl_server_credentials_create_with_options(
          grpc_ssl_server_credentials_create_options_using_config_fetcher(
              files_.client_ca.empty()
                  ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                  : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY,
              &TlsCertificates::Fetch, this)));
}

grpc_ssl_certificate_config_reload_status TlsCertificates::Fetch(
    void* self, grpc_ssl_server_certificate_config** config) {
  return static_cast<TlsCertificates*>(self)->FetchIfNew(config);
}

grpc_ssl_certificate_config_reload_status TlsCertificates::FetchIfNew(
    grpc_ssl_server_certificate_config** config) {
  MutexLock lock(mutex_);
  if (std::exchange(handed_out_, true)) {
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
  }
  const grpc_ssl_pem_key_cert_pair pair = {content_.key.c_str(),
                                           content_.cert.c_str()};
  // gRPC 1.51 aborts without any roots, also where clients are not asked for a
  // certificate and roots mean nothing.
  const std::string& roots =
      content_.client_ca.empty() ? content_.cert : content_.client_ca;
  *config = grpc_ssl_server_certificate_config_create(roots.c_str(), &pair, 1);
  return *config != nullptr ? GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW
                            : GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_FAIL;
}

}  // namespace semrank
