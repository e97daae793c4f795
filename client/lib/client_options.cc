#include "client/lib/client_options.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "model/base/file_io.h"
#include "model/base/line_reader.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"

namespace semrank {
namespace {

// Credentials are small; a mistyped path must not read a large file.
constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxKeyBytes = 4'096;
constexpr char kKeyVariable[] = "SEMRANK_API_KEY";

absl::StatusOr<std::string> ReadIfNamed(const std::string& path) {
  if (path.empty()) return std::string();
  SEMRANK_ASSIGN_OR_RETURN(const std::string content,
                           ReadFile(path, kMaxFileBytes));
  return std::string(WithoutByteOrderMark(content));
}

// Refuses a file without the PEM block `kind`: gRPC would report it without its
// name, and an empty file of authorities would turn TLS off.
absl::StatusOr<std::string> ReadPem(const std::string& path,
                                    std::string_view kind) {
  SEMRANK_ASSIGN_OR_RETURN(std::string content, ReadIfNamed(path));
  const std::string mark = absl::StrFormat("%s-----", kind);
  if (path.empty() || content.find(mark) != std::string::npos) return content;
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s: no PEM %s", path, absl::AsciiStrToLower(ToAbsl(kind))));
}

// HTTP/2 headers carry visible ASCII only; gRPC would fail every call with an
// error that does not name the key.
absl::Status CheckApiKey(const std::string& key, const std::string& source) {
  const bool is_graphic = std::ranges::all_of(
      key, [](unsigned char c) { return absl::ascii_isgraph(c); });
  if (key.size() <= kMaxKeyBytes && is_graphic) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s: want at most %d visible ASCII characters, on one line", source,
      kMaxKeyBytes));
}

absl::StatusOr<std::string> ReadApiKey(const std::string& path) {
  SEMRANK_ASSIGN_OR_RETURN(std::string key, ReadIfNamed(path));
  const char* const from_environment = std::getenv(kKeyVariable);
  // A file that is named wins, even if it turns out to be empty: falling back
  // to another key would hide the mistake.
  if (path.empty() && from_environment != nullptr) key = from_environment;
  absl::StripAsciiWhitespace(&key);
  if (!path.empty() && key.empty()) {
    return absl::InvalidArgumentError(path + ": contains no API key");
  }
  SEMRANK_RETURN_IF_ERROR(CheckApiKey(
      key,
      absl::StrFormat("API key of %s", path.empty() ? kKeyVariable : path)));
  return key;
}

constexpr std::string_view kUnixScheme = "unix:";
constexpr std::string_view kDnsScheme = "dns:///";

absl::Status CheckHostPort(std::string_view address) {
  // The last one; an IPv6 address has others.
  const std::size_t colon = address.rfind(':');
  std::uint32_t port = 0;
  if (colon == std::string_view::npos ||
      !absl::SimpleAtoi(ToAbsl(address.substr(colon + 1)), &port) ||
      port == 0 || port > 65535) {
    return absl::InvalidArgumentError("want HOST:PORT, PORT from 1 to 65535");
  }
  const std::string_view host = address.substr(0, colon);
  if (host.empty()) return absl::InvalidArgumentError("has no host");
  // Without brackets, the port would look like the last group of the address.
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (!bracketed && host.find(':') != std::string_view::npos) {
    return absl::InvalidArgumentError("write an IPv6 host as [HOST]:PORT");
  }
  if (host.find_first_of(" \t/") != std::string_view::npos) {
    return absl::InvalidArgumentError(
        "want HOST:PORT without blanks, slashes or a scheme");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ClientCredentials> ReadCredentials(
    const CredentialFiles& files) {
  ClientCredentials credentials;
  SEMRANK_ASSIGN_OR_RETURN(credentials.tls_ca,
                           ReadPem(files.tls_ca, "CERTIFICATE"));
  SEMRANK_ASSIGN_OR_RETURN(credentials.tls_cert,
                           ReadPem(files.tls_cert, "CERTIFICATE"));
  SEMRANK_ASSIGN_OR_RETURN(credentials.tls_key,
                           ReadPem(files.tls_key, "PRIVATE KEY"));
  SEMRANK_ASSIGN_OR_RETURN(credentials.api_key, ReadApiKey(files.api_key_file));
  return credentials;
}

// A certificate without TLS would be silently ignored, and the operator would
// believe that the client proves who it is.
absl::Status CheckCredentials(const ClientCredentials& credentials) {
  if (credentials.tls_cert.empty() != credentials.tls_key.empty()) {
    return absl::InvalidArgumentError(
        "tls_cert and tls_key: want both or neither");
  }
  if (!credentials.tls_cert.empty() && credentials.tls_ca.empty()) {
    return absl::InvalidArgumentError(
        "tls_cert: needs tls_ca, because only TLS uses it");
  }
  return CheckApiKey(credentials.api_key, "API key");
}

// gRPC would accept most of these and fail later, without the name of the
// option.
absl::Status CheckOptions(const ClientOptions& options) {
  const absl::Status address = CheckServerAddress(options.address);
  if (!address.ok()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "server address '%s': %s", options.address, address.message()));
  }
  if (options.deadline <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("deadline %s: must be positive",
                        absl::FormatDuration(options.deadline)));
  }
  if (options.retry.max_attempts < 1) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "max_attempts %d: must be at least 1", options.retry.max_attempts));
  }
  return CheckCredentials(options.credentials);
}

absl::Status CheckServerAddress(std::string_view address) {
  // Users paste the URL of the HTTP port, which is another one.
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!address.starts_with(scheme)) continue;
    return absl::InvalidArgumentError(absl::StrFormat(
        "is a URL: leave %s out, and name the gRPC port (--listen_address of "
        "semrank-server), not that of --http_address",
        scheme));
  }
  if (address.starts_with(kUnixScheme)) {
    return address.size() > kUnixScheme.size()
               ? absl::OkStatus()
               : absl::InvalidArgumentError("has no path");
  }
  if (address.starts_with(kDnsScheme)) address.remove_prefix(kDnsScheme.size());
  return CheckHostPort(address);
}

// Judges the text alone: looking up names could block.
bool IsLoopback(std::string_view address) {
  if (address.starts_with(kDnsScheme)) address.remove_prefix(kDnsScheme.size());
  // "127.example.org" is a name.
  const std::string_view host = address.substr(0, address.rfind(':'));
  return (host.starts_with("127.") &&
          host.find_first_not_of("0123456789.") == host.npos) ||
         host == "[::1]" || host == "localhost";
}

}  // namespace semrank
