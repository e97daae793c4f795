#include "server/rpc/byte_buffers.h"

#include <grpcpp/support/proto_buffer_writer.h>

#include <limits>

#include "server/base/errors.h"
#include "server/base/metrics.h"

namespace semrank {
namespace {

// A response is serialised into blocks of at most this size, so that one of 100
// MB needs no contiguous memory of that size.
constexpr int kBlockBytes = 1 << 20;

}  // namespace

// WireReader needs one piece. A message that arrived in one piece is not
// copied: the slice shares gRPC's memory by reference count.
absl::Status ToSingleSlice(const grpc::ByteBuffer& buffer,
                           std::int64_t max_bytes, grpc::Slice& slice) {
  if (buffer.Length() > static_cast<std::size_t>(max_bytes)) {
    return MessageTooLarge(buffer.Length(), max_bytes);
  }
  if (buffer.TrySingleSlice(&slice).ok() ||
      buffer.DumpToSingleSlice(&slice).ok()) {
    return absl::OkStatus();
  }
  // The sender ended it early, or gRPC had no memory for it.
  return MakeError(absl::StatusCode::kCancelled, "CANCELLED",
                   "the message did not arrive as a whole");
}

absl::Status Serialize(const google::protobuf::MessageLite& message,
                       Metrics& metrics, grpc::ByteBuffer& buffer) {
  Stopwatch clock;
  const std::size_t num_bytes = message.ByteSizeLong();
  if (num_bytes > std::numeric_limits<int>::max()) {
    return absl::InternalError("the response is over 2 GiB");
  }
  grpc::ProtoBufferWriter writer(&buffer, kBlockBytes,
                                 static_cast<int>(num_bytes));
  if (!message.SerializeToZeroCopyStream(&writer)) {
    return absl::InternalError("cannot serialise the response");
  }
  metrics.RecordPhase(Phase::kSerialize, clock.Lap());
  return absl::OkStatus();
}

}  // namespace semrank
