#include "server/rpc/call_data.h"

#include <grpcpp/server_context.h>
#include <grpcpp/support/proto_buffer_writer.h>
#include <grpcpp/support/status.h>

#include <limits>
#include <optional>
#include <string>

#include "server/auth/access_control.h"
#include "server/base/errors.h"
#include "server/requests/error_status.h"
#include "server/requests/request_run.h"

namespace semrank {
namespace {

// HTTP/2 counts so much for an entry beside its name and value.
constexpr std::size_t kEntryOverheadBytes = 32;

// Empty when the entry is missing.
std::string_view Value(const grpc::ServerContextBase& context,
                       std::string_view name) {
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find({name.data(), name.size()});
  if (found == metadata.end()) return {};
  return {found->second.data(), found->second.size()};
}

// A response is serialised into blocks of at most this size, so that one of 100
// MB needs no contiguous memory of that size.
constexpr int kBlockBytes = 1 << 20;

// An error as gRPC sends it.
struct SentError {
  grpc::Status status;
  std::optional<std::string> pushback;
};

// Each thread keeps its last result: an overloaded server refuses most calls by
// the same status (WorkerPool), and making the details is a tenth of what a
// refusal costs. Comparing copies of a status compares two pointers.
const SentError& Convert(const absl::Status& status) {
  thread_local absl::Status last;
  thread_local SentError result;
  if (status == last) return result;
  // The message may have been escaped in `details`, so it is taken from there.
  const google::rpc::Status details = ToRpcStatus(status);
  // gRPC's codes have the same numbers as Abseil's. gRPC sends the third
  // argument as grpc-status-details-bin, which client libraries decode.
  result = {grpc::Status(static_cast<grpc::StatusCode>(status.code()),
                         details.message(), details.SerializeAsString()),
            RetryDelayMillis(status)};
  last = status;
  return result;
}

}  // namespace

// The size is checked before the key is hashed, so a call cannot make the
// server hash a long header.
absl::Status CheckMetadata(const grpc::ServerContextBase& context,
                           const Method& method, const ServerParts& parts) {
  std::size_t num_bytes = 0;
  for (const auto& [name, value] : context.client_metadata()) {
    num_bytes += name.size() + value.size() + kEntryOverheadBytes;
  }
  const std::int64_t max_bytes = parts.limits.max_metadata_bytes;
  if (num_bytes > static_cast<std::size_t>(max_bytes)) {
    return MetadataTooLarge(num_bytes, max_bytes);
  }
  // Most servers have no keys, and need not look for one.
  if (parts.access == nullptr) return absl::OkStatus();
  return CheckKey(method, parts, Value(context, "authorization"));
}

RequestIdentity IdentityOf(const grpc::ServerContextBase& context) {
  return MakeRequestIdentity(Value(context, kRequestIdHeader),
                             Value(context, kTraceparentHeader));
}

RequestLog::Details CallerOf(const grpc::ServerContextBase& context) {
  return {.key = AccessControl::NameOfKey(Value(context, "authorization")),
          .peer = context.peer()};
}

// The trailers must be added before Finish, which sends them.
grpc::Status FinalStatus(const absl::Status& status,
                         const RequestIdentity& identity,
                         grpc::ServerContextBase& context) {
  context.AddTrailingMetadata(std::string(kRequestIdHeader),
                              identity.request_id);
  if (!identity.traceparent.empty()) {
    context.AddTrailingMetadata(std::string(kTraceparentHeader),
                                identity.traceparent);
  }
  if (status.ok()) return grpc::Status::OK;
  const SentError& error = Convert(status);
  if (error.pushback.has_value()) {
    context.AddTrailingMetadata(kPushbackTrailer, *error.pushback);
  }
  return error.status;
}

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
