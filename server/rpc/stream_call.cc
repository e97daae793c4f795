#include "server/rpc/stream_call.h"

#include <string>

#include "server/base/errors.h"
#include "server/base/request_log.h"
#include "server/requests/rpc_status.h"
#include "server/rpc/byte_buffers.h"
#include "server/rpc/call_access.h"
#include "server/rpc/call_identity.h"
#include "server/rpc/status_mapping.h"

namespace semrank {
namespace {

// Answers that wait for the client to take them; with more, nothing is read.
constexpr std::size_t kMaxWaitingBytes = std::size_t{1} << 20;
// What a short answer costs beside its bytes.
constexpr std::size_t kAnswerOverheadBytes = 256;

std::size_t CostOf(const grpc::ByteBuffer& answer) {
  return answer.Length() + kAnswerOverheadBytes;
}

}  // namespace

StreamCall::StreamCall(const RpcEnvironment& environment,
                       const Metrics::Stream& metrics,
                       grpc::CallbackServerContext& context, int max_requests)
    : environment_(environment),
      metrics_(metrics),
      context_(context),
      max_requests_(max_requests),
      identity_(IdentityOf(context)),
      begun_(std::chrono::steady_clock::now()) {}

void StreamCall::Begin(Role role) {
  metrics_.rpc.Started();
  environment_.calls->Begin(this);
  absl::Status answering = CheckMetadataSize(
      context_, environment_.ranking->limits().max_metadata_bytes);
  if (answering.ok()) {
    answering = CheckAccess(environment_.access, context_, role);
  }
  if (!answering.ok()) environment_.metrics->CountRejected(answering);
  if (answering.ok()) answering = environment_.lifecycle->CheckAnswering();
  if (answering.ok()) answering = environment_.calls->leaving().CheckRoom();
  bool over = false;
  {
    const MutexLock lock(mutex_);
    if (!answering.ok()) SetFinalStatus(answering);
    over = Continue();
  }
  if (over) FinishNow();
}

void StreamCall::OnReadDone(bool ok) {
  grpc::Slice bytes;
  absl::Status taken = absl::OkStatus();
  if (ok) {
    metrics_.received->Increment();
    taken = ToSingleSlice(
        incoming_, MaxRequestBytes(environment_.ranking->limits()), bytes);
    incoming_.Clear();
  }
  if (!taken.ok()) {
    environment_.metrics->CountRejected(taken);
    metrics_.CountAnswer(taken.code());
  }
  bool take = false;
  bool over = false;
  {
    const MutexLock lock(mutex_);
    reading_ = false;
    // OK: the client has half-closed.
    if (!ok || !taken.ok()) SetFinalStatus(taken);
    // A message may still arrive when the stream is ending or over.
    take = !final_status_.has_value();
    if (take) ++num_in_work_;
    over = Continue();
  }
  if (over) FinishNow();
  if (take) Take(std::move(bytes));
}

void StreamCall::Answer(const absl::Status& outcome,
                        const grpc::ByteBuffer& answer) {
  metrics_.CountAnswer(outcome.code());
  bool over = false;
  {
    const MutexLock lock(mutex_);
    --num_in_work_;
    answer_bytes_ += CostOf(answer);
    answers_.push_back(answer);
    if (writing_) {
      environment_.calls->leaving().Grow(
          context_.c_call(), static_cast<std::int64_t>(CostOf(answer)));
    }
    over = Continue();
  }
  if (over) FinishNow();
}

void StreamCall::End(const absl::Status& status) {
  metrics_.CountAnswer(status.code());
  bool over = false;
  {
    const MutexLock lock(mutex_);
    --num_in_work_;
    final_status_ = status;  // also when the client has half-closed meanwhile
    over = Continue();
  }
  if (over) FinishNow();
}

void StreamCall::Record(const absl::Status& outcome, std::uint64_t number,
                        absl::Duration time) const {
  if (environment_.request_log == nullptr) return;
  environment_.request_log->Record({.method = metrics_.rpc.name(),
                                    .identity = identity_,
                                    .number = number,
                                    .status = outcome,
                                    .time = time});
}

void StreamCall::OnWriteDone(bool ok) {
  if (ok) metrics_.sent->Increment();
  bool over = false;
  {
    const MutexLock lock(mutex_);
    writing_ = false;
    environment_.calls->leaving().Remove(context_.c_call());
    answer_bytes_ -= CostOf(answers_.front());
    answers_.pop_front();
    over = Continue();
  }
  if (over) FinishNow();
}

void StreamCall::OnCancel() {
  bool over = false;
  {
    const MutexLock lock(mutex_);
    over = Continue();
  }
  if (over) FinishNow();
}

void StreamCall::EndForStop() {
  bool over = false;
  {
    const MutexLock lock(mutex_);
    SetFinalStatus(Lifecycle::DrainingError());
    over = Continue();
  }
  if (over) FinishNow();
}

void StreamCall::SetFinalStatus(const absl::Status& status) {
  if (!final_status_.has_value()) final_status_ = status;
}

bool StreamCall::Continue() {
  if (finished_) return false;
  if (context_.IsCancelled()) {
    final_status_ = CheckStillWanted(*this);
    // Nobody reads them; one that is being written comes back as failed.
    while (answers_.size() > (writing_ ? 1 : 0)) {
      answer_bytes_ -= CostOf(answers_.back());
      answers_.pop_back();
    }
  }
  StartWriteIfAny();
  StartReadIfRoom();
  finished_ =
      final_status_.has_value() && num_in_work_ == 0 && answers_.empty();
  return finished_;
}

void StreamCall::StartReadIfRoom() {
  if (reading_ || final_status_.has_value() || num_in_work_ >= max_requests_ ||
      answer_bytes_ > kMaxWaitingBytes) {
    return;
  }
  reading_ = true;
  StartRead(&incoming_);
}

void StreamCall::StartWriteIfAny() {
  if (writing_ || answers_.empty()) return;
  writing_ = true;
  environment_.calls->leaving().Add(context_.c_call(),
                                    static_cast<std::int64_t>(answer_bytes_));
  grpc::WriteOptions options;
  // More follows at once: the library may put them on the wire together.
  if (answers_.size() > 1) options.set_buffer_hint();
  StartWrite(&answers_.front(), options);
}

// The library may call OnDone before Finish returns.
void StreamCall::FinishNow() {
  absl::Status status;
  {
    const MutexLock lock(mutex_);
    status = *final_status_;
  }
  const std::optional<std::string> pushback = RetryDelayMillis(status);
  if (pushback.has_value()) {
    context_.AddTrailingMetadata(kPushbackTrailer, *pushback);
  }
  AddIdentityTrailers(identity_, context_);
  metrics_.rpc.Handled(
      status.code(),
      absl::FromChrono(std::chrono::steady_clock::now() - begun_));
  if (environment_.request_log != nullptr) {
    // However long it was open, no request of it was slow for that.
    environment_.request_log->Record({.method = metrics_.rpc.name(),
                                      .identity = identity_,
                                      .status = status});
  }
  Finish(ToGrpcStatus(status));
}

void StreamCall::OnDone() {
  CallTracker& calls = *environment_.calls;
  calls.End(this);
  delete this;
}

}  // namespace semrank
