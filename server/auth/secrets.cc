#include "server/auth/secrets.h"

#include "model/base/count_text.h"
#include "model/base/status_macros.h"
#include "server/base/logging.h"

namespace semrank {
namespace {

// A look costs a few calls of stat.
constexpr absl::Duration kLookInterval = absl::Seconds(1);

// Reads files that have changed, logs an error and returns whether new contents
// are in force. `files` null = there are none.
template <typename Files>
bool RefreshFiles(const char* what, Files* files) {
  if (files == nullptr) return false;
  const absl::StatusOr<bool> refreshed = files->Refresh();
  if (!refreshed.ok()) {
    LogError("new %s are refused, the old ones stay: %s", what,
             refreshed.status().message());
  }
  return refreshed.value_or(false);
}

void LogCertificate(const TlsCertificates& tls) {
  LogInfo("the TLS certificate ends at %s",
          absl::FormatTime(tls.current()->cert_expiry));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Secrets>> Secrets::Load(
    const std::string& api_keys_file, const TlsFiles& tls) {
  // Unlike in Refresh, a file that cannot be used is an error here: there are
  // no old contents that could stay in force.
  std::unique_ptr<Secrets> secrets(new Secrets);
  if (!api_keys_file.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(secrets->access_,
                             AccessControl::FromFile(api_keys_file));
    LogInfo("%s", CountText(secrets->access_->num_keys(), "API key"));
  }
  if (!tls.cert.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(secrets->tls_, TlsCertificates::FromFiles(tls));
    LogCertificate(*secrets->tls_);
  }
  // Only a warning, because a proxy in front of the server may end TLS.
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

std::vector<std::string> Secrets::Refresh() {
  std::vector<std::string> renewed;
  // The thread of this class and SIGHUP may look at the same time.
  const MutexLock lock(refresh_mutex_);
  // After an error in the file of keys the certificates are still renewed.
  if (RefreshFiles("API keys", access_.get())) {
    LogInfo("new API keys are in force: %s",
            CountText(access_->num_keys(), "key"));
    renewed.push_back("API keys");
  }
  if (RefreshFiles("TLS certificates", tls_.get())) {
    LogInfo("new TLS certificates are in force");
    LogCertificate(*tls_);
    renewed.push_back("TLS certificates");
  }
  return renewed;
}

}  // namespace semrank
