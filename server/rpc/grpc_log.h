// What gRPC and our own calls have to say, into the server's log, a few lines a
// second at most.
#ifndef SEMRANK_SERVER_RPC_GRPC_LOG_H_
#define SEMRANK_SERVER_RPC_GRPC_LOG_H_

#include "absl/status/status.h"

namespace semrank {

// Once, before the first server: takes over gRPC's log of the whole process.
void CatchGrpcLog();

// While it lives, what gRPC says in this thread is dropped: a listener that
// cannot start is told once, by who wanted it.
class QuietGrpcLog {
 public:
  QuietGrpcLog();
  ~QuietGrpcLog();
  QuietGrpcLog(const QuietGrpcLog&) = delete;
  QuietGrpcLog& operator=(const QuietGrpcLog&) = delete;
};

// For statuses that mean a bug of ours.
void LogBug(const absl::Status& status);

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_GRPC_LOG_H_
