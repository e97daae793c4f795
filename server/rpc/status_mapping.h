// absl::Status as grpc::Status, with a google.rpc.Status as its details.
//
//   Threads  free functions, thread-safe.
#ifndef SEMRANK_SERVER_RPC_STATUS_MAPPING_H_
#define SEMRANK_SERVER_RPC_STATUS_MAPPING_H_

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace semrank {

// The trailer of errors that ask the caller to come back later; its value is
// RetryDelayMillis.
inline constexpr char kPushbackTrailer[] = "grpc-retry-pushback-ms";

grpc::Status ToGrpcStatus(const absl::Status& status);

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_STATUS_MAPPING_H_
