// Converts gRPC's buffers to plain bytes and messages to buffers.
#ifndef SEMRANK_SERVER_RPC_BYTE_BUFFERS_H_
#define SEMRANK_SERVER_RPC_BYTE_BUFFERS_H_

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "server/base/metrics.h"

namespace semrank {

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

#endif  // SEMRANK_SERVER_RPC_BYTE_BUFFERS_H_
