// Converts the status of a call to absl::Status.
//
//   Code     the server's.
//   Message  the server's, prefixed by the address: "127.0.0.1:50051: titles:
//            2000 in one request, over the limit of 1000 (...)".
//   Payloads the google.rpc details, each under its type URL.
#ifndef SEMRANK_CLIENT_LIB_CLIENT_STATUS_H_
#define SEMRANK_CLIENT_LIB_CLIENT_STATUS_H_

#include <grpcpp/support/status.h>

#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace semrank {

absl::Status FromGrpcStatus(const grpc::Status& status,
                            std::string_view address);

// The status of one item (Problem.status), without an address. It is never OK:
// code 0 becomes Unknown.
absl::Status FromItemStatus(const google::rpc::Status& status);

// The machine-readable reason (proto/README.md) and its values. Nothing if the
// server sent none, or was never reached.
std::optional<google::rpc::ErrorInfo> GetErrorInfo(const absl::Status& status);

// Whether the status has this reason of the server.
bool HasReason(const absl::Status& status, std::string_view reason);

// Appends " (note)" to the message; OK stays OK.
absl::Status WithNote(const absl::Status& status, std::string_view note);

// How long the server asks to wait before the next attempt.
std::optional<absl::Duration> GetRetryDelay(const absl::Status& status);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_LIB_CLIENT_STATUS_H_
