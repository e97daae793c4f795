#include "server/security_options.h"

#include "absl/flags/flag.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/cli/program.h"
#include "server/base/errors.h"
#include "server/option_checks.h"

ABSL_FLAG(std::string, tls_cert, "",
          "PEM file: the server's certificate, then its intermediates. With it "
          "--listen_address and --http_address speak TLS only. Replaced files "
          "take effect within seconds.");
ABSL_FLAG(std::string, tls_key, "",
          "PEM file: the private key of --tls_cert, without a password.");
ABSL_FLAG(std::string, tls_client_ca, "",
          "PEM file: the CAs of client certificates. With it gRPC needs one; "
          "over HTTP calls do, pages do not.");
ABSL_FLAG(std::string, api_keys_file, "",
          "File of API keys, a line each: role (read, write or admin), blank, "
          "SHA-256 of the key. Callers then need \"authorization: Bearer "
          "KEY\". Read again when it changes.");
ABSL_FLAG(std::string, health_address, "",
          "HOST:PORT that answers grpc.health.v1 only, in plain text, for "
          "probes that cannot show a client certificate.");

ABSL_FLAG(std::string, http_calls, "auto",
          "JSON calls over HTTP: auto = as over gRPC, so with --tls_client_ca "
          "only from clients with a certificate; on = also from clients "
          "without one; off. API keys count in any case, and pages for "
          "operators are always served.");

namespace semrank {
namespace {

absl::Status CheckHttpCalls(const std::string& value) {
  if (value == "auto" || value == "on" || value == "off") {
    return absl::OkStatus();
  }
  return FlagError("http_calls", value, "is none of auto, on, off");
}

absl::Status CheckTogether(const TlsFiles& tls) {
  if (tls.cert.empty() && !tls.key.empty()) {
    return FlagError("tls_key", tls.key, "needs --tls_cert");
  }
  if (tls.key.empty() && !tls.cert.empty()) {
    return FlagError("tls_cert", tls.cert, "needs --tls_key");
  }
  if (tls.cert.empty() && !tls.client_ca.empty()) {
    return FlagError("tls_client_ca", tls.client_ca, "needs --tls_cert");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ValidateSecurityOptions(const SecurityOptions& options) {
  SEMRANK_RETURN_IF_ERROR(CheckTogether(options.tls));
  SEMRANK_RETURN_IF_ERROR(CheckHttpCalls(options.http_calls));
  if (options.health_address.empty()) return absl::OkStatus();
  return CheckAddress("health_address", options.health_address);
}

absl::StatusOr<SecurityOptions> SecurityOptionsFromFlags() {
  SecurityOptions options;
  options.tls.cert = absl::GetFlag(FLAGS_tls_cert);
  options.tls.key = absl::GetFlag(FLAGS_tls_key);
  options.tls.client_ca = absl::GetFlag(FLAGS_tls_client_ca);
  options.api_keys_file = absl::GetFlag(FLAGS_api_keys_file);
  options.health_address = absl::GetFlag(FLAGS_health_address);
  options.http_calls = absl::GetFlag(FLAGS_http_calls);
  SEMRANK_RETURN_IF_ERROR(ValidateSecurityOptions(options));
  return options;
}

std::string DescribeSecurityOptions(const SecurityOptions& options) {
  return absl::StrFormat(
      "tls_cert=%s\ntls_key=%s\ntls_client_ca=%s\napi_keys_file=%s\n"
      "health_address=%s\nhttp_calls=%s\n",
      options.tls.cert, options.tls.key, options.tls.client_ca,
      options.api_keys_file, options.health_address, options.http_calls);
}

absl::Status HttpCallsAllowed(const SecurityOptions& options) {
  if (options.http_calls != "off") return absl::OkStatus();
  return MakeError(absl::StatusCode::kPermissionDenied, "HTTP_CALLS_OFF",
                   "calls over HTTP are off (--http_calls=off)",
                   {{"flag", "http_calls"}});
}

bool HttpCallsNeedCertificate(const SecurityOptions& options) {
  return !options.tls.client_ca.empty() && options.http_calls == "auto";
}

}  // namespace semrank
