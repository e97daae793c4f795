// Converts absl::Status to google.rpc.Status, for items that fail alone, for
// JSON and for the details of a failed call.
//
//   Details  every error carries one google.rpc.ErrorInfo with domain
//            "semrank", the reason and its values. An error of a field also has
//            a BadRequest, an error with a delay a RetryInfo.
#ifndef SEMRANK_SERVER_REQUESTS_ERROR_STATUS_H_
#define SEMRANK_SERVER_REQUESTS_ERROR_STATUS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "google/rpc/status.pb.h"

namespace semrank {

google::rpc::Status ToRpcStatus(const absl::Status& status);

// Milliseconds, in decimal, after which the caller may try again; nullopt for
// errors that a later attempt would meet too.
std::optional<std::string> RetryDelayMillis(const absl::Status& status);

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_ERROR_STATUS_H_
