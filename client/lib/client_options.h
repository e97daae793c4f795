#ifndef SEMRANK_CLIENT_LIB_CLIENT_OPTIONS_H_
#define SEMRANK_CLIENT_LIB_CLIENT_OPTIONS_H_

#include <string>

#include "absl/time/time.h"
#include "client/lib/client_credentials.h"
#include "client/lib/retry.h"

namespace semrank {

struct ClientOptions {
  // As CheckServerAddress (server_address.h) takes it.
  std::string address = "127.0.0.1:50051";
  // Per call; positive, absl::InfiniteDuration() = none.
  absl::Duration deadline = absl::Seconds(30);
  ClientCredentials credentials = {};
  RetryPolicy retry = {};
};

// InvalidArgument, which names the option.
absl::Status CheckOptions(const ClientOptions& options);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_LIB_CLIENT_OPTIONS_H_
