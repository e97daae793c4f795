// How to reach the server: flags of every command.
#ifndef SEMRANK_CLIENT_COMMANDS_CONNECTION_FLAGS_H_
#define SEMRANK_CLIENT_COMMANDS_CONNECTION_FLAGS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "client/lib/client_options.h"
#include "client/lib/semrank_client.h"

namespace semrank {

// How to reach the server. FlagError if one of them is wrong.
absl::StatusOr<ClientOptions> OptionsFromFlags();

// A client for --address with --deadline. FlagError if one of them is wrong.
absl::StatusOr<std::unique_ptr<SemrankClient>> ClientFromFlags();

}  // namespace semrank

#endif  // SEMRANK_CLIENT_COMMANDS_CONNECTION_FLAGS_H_
