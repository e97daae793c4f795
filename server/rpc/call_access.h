// May this caller call this method? Asked before the message is looked at.
#ifndef SEMRANK_SERVER_RPC_CALL_ACCESS_H_
#define SEMRANK_SERVER_RPC_CALL_ACCESS_H_

#include <grpcpp/server_context.h>

#include <string_view>

#include "server/core/access_control.h"

namespace semrank {

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
