// The gRPC services of semrank.v1, made from the table of methods. A call runs
// as a RequestRun: one for a unary call, one for each message of a stream.
#ifndef SEMRANK_SERVER_RPC_SERVICES_H_
#define SEMRANK_SERVER_RPC_SERVICES_H_

#include <memory>
#include <vector>

#include "server/requests/server_parts.h"
#include "server/rpc/open_calls.h"

namespace grpc {
class Service;
}  // namespace grpc

namespace semrank {

// Ranking, embedding, catalog and model. `calls` must outlive them; the parts
// are copied.
std::vector<std::unique_ptr<grpc::Service>> MakeServices(
    const ServerParts& parts, OpenCalls& calls);

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_SERVICES_H_
