// absl::Status as google.rpc.Status, for items that fail alone, for JSON and
// for the details of a failed call.
//
//   Details  every error carries one google.rpc.ErrorInfo with domain
//            "semrank", the reason and its values; a field also a BadRequest, a
//            delay also a RetryInfo.
//   Threads  free functions, thread-safe.
#ifndef SEMRANK_SERVER_REQUESTS_ERROR_STATUS_H_
#define SEMRANK_SERVER_REQUESTS_ERROR_STATUS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "google/rpc/status.pb.h"

namespace semrank {

google::rpc::Status ToRpcStatus(const absl::Status& status);

// Milliseconds after which a retry is welcome, in decimal, for errors that ask
// the caller to come back later.
std::optional<std::string> RetryDelayMillis(const absl::Status& status);

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_ERROR_STATUS_H_
