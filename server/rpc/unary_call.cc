#include "server/rpc/unary_call.h"

#include <optional>
#include <string>
#include <utility>

#include "server/base/request_log.h"
#include "server/requests/rpc_status.h"
#include "server/rpc/byte_buffers.h"
#include "server/rpc/call_access.h"
#include "server/rpc/call_identity.h"
#include "server/rpc/status_mapping.h"
#include "server/rpc/unary_messages.h"

namespace semrank {

UnaryCall::UnaryCall(const RpcEnvironment& environment, const Metrics::Rpc& rpc,
                     const RawCall& raw, std::unique_ptr<RequestWork> work)
    : RequestRun(environment, std::move(work)),
      rpc_(rpc),
      raw_(raw),
      reactor_(raw.context->DefaultReactor()) {}

grpc::ServerUnaryReactor* UnaryCall::Start(const RpcEnvironment& environment,
                                           const Metrics::Rpc& rpc,
                                           const RawCall& raw,
                                           std::unique_ptr<RequestWork> work) {
  // Deletes itself, perhaps before Begin returns.
  auto* const call = new UnaryCall(environment, rpc, raw, std::move(work));
  grpc::ServerUnaryReactor* const reactor = call->reactor_;
  call->Begin();
  return reactor;
}

absl::Time UnaryCall::deadline() const {
  return absl::FromChrono(raw_.context->deadline());
}

void UnaryCall::Begin() {
  rpc_.Started();
  UnaryMessages::Of(*raw_.context).Begin(*environment().calls);
  const Limits& limits = environment().ranking->limits();
  absl::Status status =
      CheckMetadataSize(*raw_.context, limits.max_metadata_bytes);
  if (status.ok()) {
    status = CheckAccess(environment().access, *raw_.context, raw_.role);
  }
  if (status.ok()) status = CheckUnread();
  if (status.ok() && work().texts() != nullptr) {
    status = environment().calls->leaving().CheckRoom();
  }
  if (status.ok()) {
    status = ToSingleSlice(*raw_.request, MaxRequestBytes(limits), bytes_);
  }
  if (!status.ok()) return Refuse(status);
  RequestRun::Start(ViewOf(bytes_));
}

absl::Status UnaryCall::MakeAnswer(
    const google::protobuf::MessageLite& response) {
  return Serialize(response, *environment().metrics, *raw_.response);
}

void UnaryCall::Done(const absl::Status& status) {
  const std::unique_ptr<UnaryCall> self(this);
  const std::optional<std::string> pushback = RetryDelayMillis(status);
  if (pushback.has_value()) {
    raw_.context->AddTrailingMetadata(kPushbackTrailer, *pushback);
  }
  const RequestIdentity identity = IdentityOf(*raw_.context);
  AddIdentityTrailers(identity, *raw_.context);
  const absl::Duration time = TimeSinceReceived();
  rpc_.Handled(status.code(), time);
  if (environment().request_log != nullptr) {
    environment().request_log->Record({.method = rpc_.name(),
                                       .identity = identity,
                                       .status = status,
                                       .time = time});
  }
  bytes_ = grpc::Slice();
  UnaryMessages& messages = UnaryMessages::Of(*raw_.context);
  messages.FreeRequest();
  messages.AnswerLeaves(raw_.context->c_call());
  // From here on the context and the buffers may be gone.
  reactor_->Finish(ToGrpcStatus(status));
}

}  // namespace semrank
