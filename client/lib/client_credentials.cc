#include "client/lib/client_credentials.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxKeyBytes = 4'096;

absl::StatusOr<std::string> ReadIfNamed(const std::string& path) {
  if (path.empty()) return std::string();
  return ReadFile(path, kMaxFileBytes);
}

absl::StatusOr<std::string> ReadApiKey(const std::string& path) {
  SEMRANK_ASSIGN_OR_RETURN(std::string key, ReadIfNamed(path));
  const char* const from_environment = std::getenv("SEMRANK_API_KEY");
  if (path.empty() && from_environment != nullptr) key = from_environment;
  absl::StripAsciiWhitespace(&key);
  if (!path.empty() && key.empty()) {
    return absl::InvalidArgumentError(path + ": there is no key in it");
  }
  return key;
}

}  // namespace

absl::StatusOr<ClientCredentials> ReadCredentials(
    const CredentialFiles& files) {
  ClientCredentials credentials;
  SEMRANK_ASSIGN_OR_RETURN(credentials.tls_ca, ReadIfNamed(files.tls_ca));
  SEMRANK_ASSIGN_OR_RETURN(credentials.tls_cert, ReadIfNamed(files.tls_cert));
  SEMRANK_ASSIGN_OR_RETURN(credentials.tls_key, ReadIfNamed(files.tls_key));
  SEMRANK_ASSIGN_OR_RETURN(credentials.api_key, ReadApiKey(files.api_key_file));
  return credentials;
}

absl::Status CheckCredentials(const ClientCredentials& credentials) {
  if (credentials.tls_cert.empty() != credentials.tls_key.empty()) {
    return absl::InvalidArgumentError(
        "a client's certificate and its key go together");
  }
  if (!credentials.tls_cert.empty() && credentials.tls_ca.empty()) {
    return absl::InvalidArgumentError(
        "a client's certificate needs TLS: say who signs the server's");
  }
  const std::string& key = credentials.api_key;
  const bool is_graphic = std::ranges::all_of(
      key, [](unsigned char c) { return absl::ascii_isgraph(c); });
  if (key.size() > kMaxKeyBytes || !is_graphic) {
    return absl::InvalidArgumentError(
        "an API key is at most 4096 visible ASCII characters");
  }
  return absl::OkStatus();
}

std::shared_ptr<grpc::ChannelCredentials> ToChannelCredentials(
    const ClientCredentials& credentials) {
  if (credentials.tls_ca.empty()) return grpc::InsecureChannelCredentials();
  return grpc::SslCredentials(
      {credentials.tls_ca, credentials.tls_key, credentials.tls_cert});
}

}  // namespace semrank
