#ifndef SEMRANK_CLIENT_LIB_SERVER_ADDRESS_H_
#define SEMRANK_CLIENT_LIB_SERVER_ADDRESS_H_

#include <string_view>

#include "absl/status/status.h"

namespace semrank {

// OK for what a channel can be opened to: "HOST:PORT", "[IPv6]:PORT",
// "unix:PATH" or "dns:///HOST:PORT". InvalidArgument with the reason otherwise;
// gRPC itself would take a missing port for 443 and a bad one for a host that
// does not answer.
absl::Status CheckServerAddress(std::string_view address);

// Whether the address can only mean this machine.
bool IsLoopback(std::string_view address);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_LIB_SERVER_ADDRESS_H_
