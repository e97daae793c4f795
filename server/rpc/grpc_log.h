// What gRPC has to say, into the server's log, a few lines a second at most.
#ifndef SEMRANK_SERVER_RPC_GRPC_LOG_H_
#define SEMRANK_SERVER_RPC_GRPC_LOG_H_

namespace semrank {

// Once, before the first server: takes over gRPC's log of the whole process.
void CatchGrpcLog();

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_GRPC_LOG_H_
