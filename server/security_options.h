// Who may reach the server, and what it shows them.
#ifndef SEMRANK_SERVER_SECURITY_OPTIONS_H_
#define SEMRANK_SERVER_SECURITY_OPTIONS_H_

#include <string>

#include "absl/status/statusor.h"
#include "server/auth/tls_files.h"

namespace semrank {

struct SecurityOptions {
  TlsFiles tls = {};                // cert empty = plain text
  std::string api_keys_file = {};   // empty = no keys
  std::string health_address = {};  // empty = no listener of its own
  // auto, on (no certificate is needed) or off.
  std::string http_calls = "auto";
};

// OK, or why POST /v1/... is refused.
absl::Status HttpCallsAllowed(const SecurityOptions& options);

// Whether POST /v1/... needs the client certificate that gRPC asks for.
bool HttpCallsNeedCertificate(const SecurityOptions& options);

// FlagError naming the flag.
absl::Status ValidateSecurityOptions(const SecurityOptions& options);

absl::StatusOr<SecurityOptions> SecurityOptionsFromFlags();

// "name=value" a line, as --flagfile takes it.
std::string DescribeSecurityOptions(const SecurityOptions& options);

}  // namespace semrank

#endif  // SEMRANK_SERVER_SECURITY_OPTIONS_H_
