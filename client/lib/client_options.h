// How a client reaches its server: address, deadline, TLS, API key, retries.
#ifndef SEMRANK_CLIENT_LIB_CLIENT_OPTIONS_H_
#define SEMRANK_CLIENT_LIB_CLIENT_OPTIONS_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace semrank {

// PEM texts and an API key. All empty: plain text, anonymous.
struct ClientCredentials {
  // Certificates of the authorities that may sign the server's certificate. If
  // set, the connection uses TLS.
  std::string tls_ca = {};
  // The client's own certificate and private key, for mutual TLS.
  std::string tls_cert = {};
  std::string tls_key = {};
  // Each call has the key as "authorization: Bearer KEY". Without TLS the
  // network can read it.
  std::string api_key = {};
};

// Paths of the files that hold credentials; empty = none. If api_key_file is
// empty, the environment variable SEMRANK_API_KEY provides the key.
struct CredentialFiles {
  std::string tls_ca = {};
  std::string tls_cert = {};
  std::string tls_key = {};
  std::string api_key_file = {};
};

// Strips white space around the key. Errors name the file.
absl::StatusOr<ClientCredentials> ReadCredentials(const CredentialFiles& files);

// InvalidArgument if a certificate lacks its key or its authority, or if no
// HTTP header can carry the API key. The message never contains the key.
absl::Status CheckCredentials(const ClientCredentials& credentials);

// Exponential backoff, as in gRPC's proposal A6.
struct RetryPolicy {
  // Attempts per call, including the first; 1 disables retries.
  int max_attempts = 4;
  // Delay before the second attempt, unless the server asks for another one.
  absl::Duration initial_backoff = absl::Milliseconds(100);
  // Upper bound of the delay, which doubles with each attempt.
  absl::Duration max_backoff = absl::Seconds(2);
};

struct ClientOptions {
  // As accepted by CheckServerAddress.
  std::string address = "127.0.0.1:50051";
  // Bounds each call with all its attempts. Positive; absl::InfiniteDuration()
  // = none.
  absl::Duration deadline = absl::Seconds(30);
  ClientCredentials credentials = {};
  RetryPolicy retry = {};
  // True cancels the calls and streams in flight, also those whose server hangs
  // or that wait for a retry. Called a few times a second, also from other
  // threads. Null = they are never cancelled.
  std::function<bool()> interrupted = nullptr;
};

// InvalidArgument, naming the option and its value.
absl::Status CheckOptions(const ClientOptions& options);

// OK for "HOST:PORT", "[IPv6]:PORT", "unix:PATH" and "dns:///HOST:PORT"; else
// InvalidArgument with the reason. gRPC itself would replace a missing port by
// 443, and try to resolve a malformed address until the deadline.
absl::Status CheckServerAddress(std::string_view address);

// Whether the address can only mean this machine.
bool IsLoopback(std::string_view address);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_LIB_CLIENT_OPTIONS_H_
