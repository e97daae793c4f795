#include "server/auth/secrets.h"

#include <string_view>

#include "model/base/status_macros.h"
#include "server/base/logging.h"

namespace semrank {
namespace {

// A look costs a few calls of stat.
constexpr absl::Duration kLookInterval = absl::Seconds(1);

// Logs an error of Refresh; true = new contents are in force.
bool LogRefusal(std::string_view what, const absl::StatusOr<bool>& refreshed) {
  if (!refreshed.ok()) {
    LogError("new %s are refused, the old ones stay: %s", what,
             refreshed.status().message());
    return false;
  }
  return *refreshed;
}

void LogCertificate(const TlsCertificates& tls) {
  LogInfo("the TLS certificate ends at %s",
          absl::FormatTime(tls.current()->cert_expiry));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Secrets>> Secrets::Load(
    const std::string& api_keys_file, const TlsFiles& tls) {
  std::unique_ptr<Secrets> secrets(new Secrets);
  if (!api_keys_file.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(secrets->access_,
                             AccessControl::FromFile(api_keys_file));
    LogInfo("%d API keys", secrets->access_->num_keys());
  }
  if (!tls.cert.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(secrets->tls_, TlsCertificates::FromFiles(tls));
    LogCertificate(*secrets->tls_);
  }
  if (secrets->access_ != nullptr && secrets->tls_ == nullptr) {
    LogWarning("API keys without --tls_cert can be read on the way");
  }
  if (secrets->access_ != nullptr || secrets->tls_ != nullptr) {
    // Files are polled, like models: change notifications do not cross network
    // file systems and container mounts.
    secrets->watch_ = std::make_unique<PeriodicTask>(
        kLookInterval, [secrets = secrets.get()] { secrets->Refresh(); });
  }
  return secrets;
}

absl::Status Secrets::Check(const std::string& api_keys_file,
                            const TlsFiles& tls) {
  if (!api_keys_file.empty()) {
    SEMRANK_RETURN_IF_ERROR(AccessControl::FromFile(api_keys_file).status());
  }
  return tls.cert.empty() ? absl::OkStatus() : ReadTlsFiles(tls).status();
}

void Secrets::Refresh() {
  if (access_ != nullptr && LogRefusal("API keys", access_->Refresh())) {
    LogInfo("new API keys are in force: %d keys", access_->num_keys());
  }
  if (tls_ != nullptr && LogRefusal("TLS certificates", tls_->Refresh())) {
    LogInfo("new TLS certificates are in force");
    LogCertificate(*tls_);
  }
}

}  // namespace semrank
