#include "client/commands/connection_flags.h"

#include <string>

#include "absl/flags/flag.h"
#include "absl/time/time.h"
#include "client/lib/client_options.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/cli/program.h"

ABSL_FLAG(std::string, address, "127.0.0.1:50051",
          "The server: HOST:PORT, [IPv6]:PORT, unix:PATH or dns:///HOST:PORT.");
ABSL_FLAG(absl::Duration, deadline, absl::Seconds(30),
          "How long to wait for an answer, connecting included; \"inf\" = "
          "without end.");
ABSL_FLAG(
    int, max_attempts, semrank::RetryPolicy().max_attempts,
    "How often a call is made that the server turns away or that does not "
    "reach it, within --deadline; 1 = once.");
ABSL_FLAG(std::string, tls_ca, "",
          "PEM file: who signs the server's certificate; with it the "
          "connection is TLS.");
ABSL_FLAG(std::string, tls_cert, "",
          "PEM file: a certificate of our own, for a server that asks.");
ABSL_FLAG(std::string, tls_key, "", "PEM file: the private key of --tls_cert.");
ABSL_FLAG(std::string, api_key_file, "",
          "File that holds an API key; without it the environment variable "
          "SEMRANK_API_KEY is used.");

namespace semrank {

absl::StatusOr<std::unique_ptr<SemrankClient>> ClientFromFlags() {
  SEMRANK_ASSIGN_OR_RETURN(const ClientOptions options, OptionsFromFlags());
  return SemrankClient::Create(options);
}

absl::StatusOr<ClientOptions> OptionsFromFlags() {
  ClientOptions options{.address = absl::GetFlag(FLAGS_address),
                        .deadline = absl::GetFlag(FLAGS_deadline)};
  const absl::Status address = CheckServerAddress(options.address);
  if (!address.ok()) {
    return FlagError("address", options.address, ToStd(address.message()));
  }
  if (options.deadline <= absl::ZeroDuration()) {
    return FlagError("deadline", absl::FormatDuration(options.deadline),
                     "must be positive");
  }
  options.retry.max_attempts = absl::GetFlag(FLAGS_max_attempts);
  if (options.retry.max_attempts < 1) {
    return FlagError("max_attempts", std::to_string(options.retry.max_attempts),
                     "must be at least 1");
  }
  SEMRANK_ASSIGN_OR_RETURN(
      options.credentials,
      ReadCredentials({.tls_ca = absl::GetFlag(FLAGS_tls_ca),
                       .tls_cert = absl::GetFlag(FLAGS_tls_cert),
                       .tls_key = absl::GetFlag(FLAGS_tls_key),
                       .api_key_file = absl::GetFlag(FLAGS_api_key_file)}));
  const absl::Status credentials = CheckCredentials(options.credentials);
  if (!credentials.ok()) return UsageError(ToStd(credentials.message()));
  return options;
}

}  // namespace semrank
