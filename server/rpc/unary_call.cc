#include "server/rpc/unary_call.h"

#include <utility>

#include "model/base/status_macros.h"
#include "server/base/request_log.h"
#include "server/rpc/byte_buffers.h"
#include "server/rpc/call_metadata.h"

namespace semrank {
namespace {

// What a call costs in gRPC beside its messages.
constexpr std::size_t kCallBytes = 8'192;

}  // namespace

UnaryCall::UnaryCall(const ServerParts& parts, OpenCalls& calls,
                     const Metrics::Rpc& rpc, const RawCall& raw,
                     std::unique_ptr<RequestWork> work)
    : RequestRun(parts, std::move(work)),
      calls_(calls),
      rpc_(rpc),
      raw_(raw),
      reactor_(raw.context->DefaultReactor()) {}

grpc::ServerUnaryReactor* UnaryCall::Start(const ServerParts& parts,
                                           OpenCalls& calls,
                                           const Metrics::Rpc& rpc,
                                           const RawCall& raw,
                                           std::unique_ptr<RequestWork> work) {
  // Deletes itself, perhaps before Begin returns.
  auto* const call = new UnaryCall(parts, calls, rpc, raw, std::move(work));
  grpc::ServerUnaryReactor* const reactor = call->reactor_;
  call->Begin();
  return reactor;
}

absl::Time UnaryCall::deadline() const {
  return absl::FromChrono(raw_.context->deadline());
}

void UnaryCall::Begin() {
  rpc_.Started();
  const absl::Status status = CheckBeforeReading();
  if (!status.ok()) return Refuse(status);
  RequestRun::Start(ViewOf(bytes_));
}

// In the order of what a check costs. Nothing before ToSingleSlice touches the
// message, so a refused call is not even copied.
absl::Status UnaryCall::CheckBeforeReading() {
  SEMRANK_RETURN_IF_ERROR(calls_.Begin(*raw_.context));
  const Limits& limits = parts().limits;
  SEMRANK_RETURN_IF_ERROR(CheckMetadata(
      *raw_.context, limits.max_metadata_bytes, parts().access, raw_.role));
  SEMRANK_RETURN_IF_ERROR(CheckUnread());
  if (work().refused_unread()) SEMRANK_RETURN_IF_ERROR(calls_.CheckRoom());
  SEMRANK_RETURN_IF_ERROR(CheckWaitUnread(raw_.request->Length()));
  return ToSingleSlice(*raw_.request, MaxRequestBytes(limits), bytes_);
}

absl::Status UnaryCall::SerializeResponse(
    const google::protobuf::MessageLite& response) {
  return Serialize(response, *parts().metrics, *raw_.response);
}

void UnaryCall::Done(const absl::Status& status) {
  // The reactor and the context belong to gRPC; only the UnaryCall is our own.
  const std::unique_ptr<UnaryCall> self(this);
  const RequestIdentity identity = IdentityOf(*raw_.context);
  const grpc::Status final_status =
      FinalStatus(status, identity, *raw_.context);
  const absl::Duration time = TimeSinceReceived();
  rpc_.Handled(status.code(), time);
  if (parts().request_log != nullptr) {
    parts().request_log->Record(
        {.method = rpc_.name(),
         .identity = identity,
         .status = status,
         .time = time,
         .actor = raw_.role == Role::kAdmin ? ActorOf(*raw_.context) : ""});
  }
  // Releases a copy that ToSingleSlice made, before the client has read the
  // response. The message itself stays counted: gRPC keeps it as long.
  bytes_ = grpc::Slice();
  calls_.SetUnsentBytes(
      *raw_.context,
      static_cast<std::int64_t>(raw_.request->Length() +
                                raw_.response->Length() + kCallBytes));
  // From here on gRPC may destroy the context and the buffers.
  reactor_->Finish(final_status);
}

}  // namespace semrank
