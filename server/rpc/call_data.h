// What gRPC carries for a call, read and written: metadata and trailers,
// messages, status.
#ifndef SEMRANK_SERVER_RPC_CALL_DATA_H_
#define SEMRANK_SERVER_RPC_CALL_DATA_H_

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "server/base/metrics.h"
#include "server/base/request_identity.h"
#include "server/base/request_log.h"
#include "server/requests/methods.h"
#include "server/requests/server_parts.h"

namespace grpc {
class ServerContextBase;
class Status;
}  // namespace grpc

namespace semrank {

// The trailer of errors after which the caller may try again; its value is
// RetryDelayMillis.
inline constexpr char kPushbackTrailer[] = "grpc-retry-pushback-ms";

// Makes the first checks of a call: METADATA_TOO_LARGE, then the errors of
// CheckKey.
absl::Status CheckMetadata(const grpc::ServerContextBase& context,
                           const Method& method, const ServerParts& parts);

// Returns the request id and the trace that the caller sent, or a new id.
RequestIdentity IdentityOf(const grpc::ServerContextBase& context);

// Describes the caller for the log.
RequestLog::Details CallerOf(const grpc::ServerContextBase& context);

// Returns the status to finish the call with, which has a google.rpc.Status as
// its details. Adds the trailers, so it must be called once.
grpc::Status FinalStatus(const absl::Status& status,
                         const RequestIdentity& identity,
                         grpc::ServerContextBase& context);

// Sets `slice` to the whole message in one piece, which copies messages that
// are not small. ResourceExhausted when it has more than `max_bytes`, before
// anything is copied; CANCELLED when it did not arrive completely.
absl::Status ToSingleSlice(const grpc::ByteBuffer& buffer,
                           std::int64_t max_bytes, grpc::Slice& slice);

inline std::string_view ViewOf(const grpc::Slice& slice) {
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

// Internal when the message is too large for Protobuf. Records the time as
// kSerialize.
absl::Status Serialize(const google::protobuf::MessageLite& message,
                       Metrics& metrics, grpc::ByteBuffer& buffer);

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_CALL_DATA_H_
