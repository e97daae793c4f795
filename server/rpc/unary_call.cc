#include "server/rpc/unary_call.h"

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/proto_buffer_writer.h>

#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "model/base/status_macros.h"
#include "server/rpc/call_tracker.h"
#include "server/rpc/grpc_log.h"
#include "server/rpc/status_mapping.h"

namespace semrank {
namespace {

// Larger responses are made of several pieces of memory.
constexpr int kResponseBlockBytes = 1 << 20;

}  // namespace

UnaryCall::UnaryCall(const RpcEnvironment& environment, const Metrics::Rpc& rpc,
                     const RawCall& raw)
    : environment_(environment),
      rpc_(rpc),
      raw_(raw),
      received_(std::chrono::steady_clock::now()),
      reactor_(raw.context->DefaultReactor()) {}

grpc::ServerUnaryReactor* UnaryCall::Start(std::unique_ptr<UnaryCall> call) {
  grpc::ServerUnaryReactor* const reactor = call->reactor_;
  call.release()->Begin();
  return reactor;
}

absl::Time UnaryCall::deadline() const {
  return absl::FromChrono(raw_.context->deadline());
}

absl::Duration UnaryCall::TimeSinceReceived() const {
  return absl::FromChrono(std::chrono::steady_clock::now() - received_);
}

void UnaryCall::AddOwnTimes(StageTimes& times) const {
  times[Stage::kParse] += read_time_;
  times[Stage::kQueue] += queue_time_;
}

void UnaryCall::Begin() {
  rpc_.Started();
  environment_.calls->Begin();
  const absl::Status status = ReadAndAdmit();
  if (!status.ok()) {
    FinishAndDelete(status);
  } else if (num_texts_ > kMaxInlineTexts || bytes_.size() > kMaxInlineBytes) {
    environment_.workers->Submit([this] { Run(); });
  } else {
    Run();
  }
}

absl::Status UnaryCall::ReadAndAdmit() {
  SEMRANK_RETURN_IF_ERROR(environment_.lifecycle->CheckAnswering());
  // One piece: the small ones are already, larger ones are copied once.
  if (!raw_.request->TrySingleSlice(&bytes_).ok() &&
      !raw_.request->DumpToSingleSlice(&bytes_).ok()) {
    return absl::InternalError("gRPC handed over no bytes");
  }
  SEMRANK_ASSIGN_OR_RETURN(
      num_texts_,
      Read(std::string_view(reinterpret_cast<const char*>(bytes_.begin()),
                            bytes_.size())));
  read_time_ = TimeSinceReceived();
  SEMRANK_ASSIGN_OR_RETURN(permit_, environment_.admission->Admit(num_texts_));
  return absl::OkStatus();
}

void UnaryCall::Run() {
  queue_time_ = TimeSinceReceived() - read_time_;
  environment_.metrics->RecordStage(Stage::kQueue, queue_time_);
  absl::Status status = CheckStillWanted(*this);
  if (status.ok()) status = Work();
  FinishAndDelete(status);
}

absl::Status UnaryCall::SetResponse(
    const google::protobuf::MessageLite& message) {
  StageClock clock;
  const std::size_t num_bytes = message.ByteSizeLong();
  if (num_bytes > std::numeric_limits<int>::max()) {
    return absl::InternalError("the response is over 2 GiB");
  }
  grpc::ProtoBufferWriter writer(raw_.response, kResponseBlockBytes,
                                 static_cast<int>(num_bytes));
  if (!message.SerializeToZeroCopyStream(&writer)) {
    return absl::InternalError("cannot serialise the response");
  }
  environment_.metrics->RecordStage(Stage::kSerialize, clock.Lap());
  return absl::OkStatus();
}

void UnaryCall::FinishAndDelete(const absl::Status& status) {
  const std::unique_ptr<UnaryCall> self(this);
  if (!status.ok()) {
    environment_.metrics->CountRejected(status);
    if (status.code() == absl::StatusCode::kInternal) LogBug(status);
    const std::optional<std::string> pushback = RetryPushback(status);
    if (pushback.has_value()) {
      raw_.context->AddTrailingMetadata(kPushbackTrailer, *pushback);
    }
  }
  rpc_.Handled(status.code(), TimeSinceReceived());
  // The permit goes back first: a caller that has its answer must find room.
  permit_ = Admission::Permit();
  // From here on the context and the buffers may be gone.
  reactor_->Finish(ToGrpcStatus(status));
  environment_.calls->End();
}

}  // namespace semrank
