// The services of semrank.v1: which method does which work, and what its caller
// must be allowed to.
#ifndef SEMRANK_SERVER_RPC_SERVICES_H_
#define SEMRANK_SERVER_RPC_SERVICES_H_

#include <grpcpp/impl/service_type.h>

#include <memory>
#include <vector>

#include "server/requests/server_parts.h"
#include "server/rpc/open_calls.h"

namespace semrank {

// Ranking, embedding, catalog and model. `calls` must outlive them.
std::vector<std::unique_ptr<grpc::Service>> MakeServices(
    const ServerParts& parts, OpenCalls& calls);

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_SERVICES_H_
