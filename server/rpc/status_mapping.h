// absl::Status to the wire; the only such place.
//
//   Details  every error carries one google.rpc.ErrorInfo with domain
//            "semrank", the reason and its values; a field also a BadRequest, a
//            delay also a RetryInfo.
//   Threads  free functions, from any thread.
#ifndef SEMRANK_SERVER_RPC_STATUS_MAPPING_H_
#define SEMRANK_SERVER_RPC_STATUS_MAPPING_H_

#include <grpcpp/support/status.h>

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "google/rpc/status.pb.h"

namespace semrank {

// The value of the trailer grpc-retry-pushback-ms is in ErrorValues under this
// name.
inline constexpr char kPushbackTrailer[] = "grpc-retry-pushback-ms";

// For items that fail alone, and as grpc-status-details-bin of a failed call.
google::rpc::Status ToRpcStatus(const absl::Status& status);

grpc::Status ToGrpcStatus(const absl::Status& status);

// What to send as kPushbackTrailer, for errors that ask to come back later.
std::optional<std::string> RetryPushback(const absl::Status& status);

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_STATUS_MAPPING_H_
