// What a call's metadata must be: no more than fits, and with a key that may
// call this method. Asked before the message is looked at.
#ifndef SEMRANK_SERVER_RPC_CALL_ACCESS_H_
#define SEMRANK_SERVER_RPC_CALL_ACCESS_H_

#include <grpcpp/server_context.h>

#include <cstdint>
#include <string_view>

#include "server/auth/access_control.h"
#include "server/base/errors.h"

namespace semrank {

// METADATA_TOO_LARGE. Counted as HTTP/2 does it: 32 bytes an entry beside name
// and value.
inline absl::Status CheckMetadataSize(const grpc::ServerContextBase& context,
                                      std::int64_t max_metadata_bytes) {
  std::size_t num_bytes = 0;
  for (const auto& [name, value] : context.client_metadata()) {
    num_bytes += name.size() + value.size() + 32;
  }
  if (num_bytes <= static_cast<std::size_t>(max_metadata_bytes)) {
    return absl::OkStatus();
  }
  return MetadataTooLarge(num_bytes, max_metadata_bytes);
}

// `access` null = everyone may do everything.
inline absl::Status CheckAccess(const AccessControl* access,
                                const grpc::ServerContextBase& context,
                                Role required) {
  if (access == nullptr) return absl::OkStatus();
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find("authorization");
  if (found == metadata.end()) return access->Check("", required);
  return access->Check({found->second.data(), found->second.size()}, required);
}

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_CALL_ACCESS_H_
