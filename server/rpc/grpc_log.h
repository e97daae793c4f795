// What gRPC and our own calls have to say, into the server's log, a few lines a
// second at most.
#ifndef SEMRANK_SERVER_RPC_GRPC_LOG_H_
#define SEMRANK_SERVER_RPC_GRPC_LOG_H_

#include "absl/status/status.h"

namespace semrank {

// Once, before the first server: takes over gRPC's log of the whole process.
void CatchGrpcLog();

// For statuses that mean a bug of ours.
void LogBug(const absl::Status& status);

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_GRPC_LOG_H_
