// A call's request id and trace: out of its metadata, and back in its trailers.
#ifndef SEMRANK_SERVER_RPC_CALL_IDENTITY_H_
#define SEMRANK_SERVER_RPC_CALL_IDENTITY_H_

#include <grpcpp/server_context.h>

#include <string>

#include "server/base/request_identity.h"

namespace semrank {

inline RequestIdentity IdentityOf(const grpc::ServerContextBase& context) {
  const auto value = [&](std::string_view name) -> std::string_view {
    const auto found =
        context.client_metadata().find({name.data(), name.size()});
    if (found == context.client_metadata().end()) return {};
    return {found->second.data(), found->second.size()};
  };
  return MakeRequestIdentity(value(kRequestIdHeader),
                             value(kTraceparentHeader));
}

// Once, before the call is finished.
inline void AddIdentityTrailers(const RequestIdentity& identity,
                                grpc::ServerContextBase& context) {
  context.AddTrailingMetadata(std::string(kRequestIdHeader),
                              identity.request_id);
  if (!identity.traceparent.empty()) {
    context.AddTrailingMetadata(std::string(kTraceparentHeader),
                                identity.traceparent);
  }
}

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_CALL_IDENTITY_H_
