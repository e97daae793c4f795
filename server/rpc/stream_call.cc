#include "server/rpc/stream_call.h"

#include "model/base/status_macros.h"
#include "server/requests/request_run.h"
#include "server/rpc/call_data.h"

namespace semrank {
namespace {

// gRPC calls OnReadDone, OnWriteDone and OnCancel from any of its threads, and
// workers call Answer and End. Each changes the state under the mutex and
// leaves the rest to UnlockAndContinue, which may finish the stream: nothing
// may touch it afterwards.

// While more bytes of answers wait for the client, nothing is read.
constexpr std::size_t kMaxWaitingBytes = std::size_t{1} << 20;
// An empty answer must count as well, or a client could make the server hold
// any number of them.
constexpr std::size_t kAnswerOverheadBytes = 256;

std::size_t CostOf(const grpc::ByteBuffer& answer) {
  return answer.Length() + kAnswerOverheadBytes;
}

}  // namespace

StreamCall::StreamCall(const Method& method, const ServerParts& parts,
                       OpenCalls& calls, const Metrics::Stream& metrics,
                       grpc::CallbackServerContext& context)
    : method_(method),
      parts_(parts),
      calls_(calls),
      metrics_(metrics),
      context_(context),
      max_requests_(method.concurrent
                        ? static_cast<int>(parts.limits.max_requests_per_stream)
                        : 1),
      identity_(IdentityOf(context)),
      begun_(std::chrono::steady_clock::now()) {}

void StreamCall::Begin() {
  metrics_.rpc.Started();
  const absl::Status status = CheckCall();
  if (!status.ok()) parts_.metrics->CountRejected(status);
  mutex_.Lock();
  if (!status.ok()) SetFinalStatus(status);
  UnlockAndContinue();
}

// The call is registered even if the key is refused: a stop waits for every
// call of ours.
absl::Status StreamCall::CheckCall() {
  const absl::Status allowed = CheckMetadata(context_, method_, parts_);
  SEMRANK_RETURN_IF_ERROR(calls_.Begin(context_, this));
  SEMRANK_RETURN_IF_ERROR(allowed);
  calls_.SetCaller(context_, parts_.access);
  SEMRANK_RETURN_IF_ERROR(CheckState(method_, parts_));
  return calls_.CheckRoom();
}

void StreamCall::OnReadDone(bool ok) {
  grpc::Slice bytes;
  absl::Status taken = absl::OkStatus();
  if (ok) {
    metrics_.received->Increment();
    taken = ToSingleSlice(incoming_, MaxRequestBytes(parts_.limits), bytes);
    // Continue may start the next read into it; `bytes` shares the message's
    // memory.
    incoming_.Clear();
  }
  if (!taken.ok()) {
    parts_.metrics->CountRejected(taken);
    metrics_.CountAnswer(taken.code());
  }
  mutex_.Lock();
  reading_ = false;
  // OK: the client has half-closed.
  if (!ok || !taken.ok()) SetFinalStatus(taken);
  // A message may still arrive when the stream is ending or over. One that is
  // taken counts as in flight at once, which keeps the stream alive until
  // Answer or End.
  const bool take = !final_status_.has_value();
  if (take) ++num_in_flight_;
  UnlockAndContinue();
  if (take) Take(std::move(bytes));
}

void StreamCall::Answer(const absl::Status& outcome,
                        const grpc::ByteBuffer& answer) {
  metrics_.CountAnswer(outcome.code());
  mutex_.Lock();
  --num_in_flight_;
  answer_bytes_ += CostOf(answer);
  answers_.push_back(answer);
  CountAnswerBytes();
  UnlockAndContinue();
}

void StreamCall::End(const absl::Status& status) {
  metrics_.CountAnswer(status.code());
  mutex_.Lock();
  --num_in_flight_;
  final_status_ = status;  // also after the client has half-closed
  UnlockAndContinue();
}

void StreamCall::Record(RequestLog::Outcome outcome) const {
  if (parts_.request_log == nullptr) return;
  outcome.method = metrics_.rpc.name();
  outcome.identity = identity_;
  parts_.request_log->Record(outcome);
}

RequestLog::Details StreamCall::caller() const { return CallerOf(context_); }

void StreamCall::OnWriteDone(bool ok) {
  if (ok) metrics_.sent->Increment();
  mutex_.Lock();
  writing_ = false;
  // StartWrite was given a pointer to the front, so it stays until here.
  answer_bytes_ -= CostOf(answers_.front());
  answers_.pop_front();
  CountAnswerBytes();
  UnlockAndContinue();
}

void StreamCall::OnCancel() {
  mutex_.Lock();
  UnlockAndContinue();
}

void StreamCall::EndForStop() {
  mutex_.Lock();
  SetFinalStatus(Lifecycle::DrainingError());
  UnlockAndContinue();
}

void StreamCall::SetFinalStatus(const absl::Status& status) {
  if (!final_status_.has_value()) final_status_ = status;
}

void StreamCall::UnlockAndContinue() {
  const bool over = Continue();
  mutex_.Unlock();
  if (over) FinishNow();
}

// True for one caller only, by `finished_`. Starting a read or a write under
// the mutex is safe: gRPC reports their end in another call, never within
// Start.
bool StreamCall::Continue() {
  if (finished_) return false;
  // Requests in flight still call Answer, so the stream ends only when they
  // have stopped; they notice the cancellation before their next slice.
  if (context_.IsCancelled()) {
    final_status_ = CheckStillWanted(*this);
    // No client reads them; the one that is being written comes back as failed.
    while (answers_.size() > (writing_ ? 1 : 0)) {
      answer_bytes_ -= CostOf(answers_.back());
      answers_.pop_back();
    }
    CountAnswerBytes();
  }
  StartWriteIfAny();
  StartReadIfRoom();
  finished_ =
      final_status_.has_value() && num_in_flight_ == 0 && answers_.empty();
  return finished_;
}

void StreamCall::StartReadIfRoom() {
  if (reading_ || final_status_.has_value() ||
      num_in_flight_ >= max_requests_ || answer_bytes_ > kMaxWaitingBytes) {
    return;
  }
  reading_ = true;
  StartRead(&incoming_);
}

// gRPC allows one write at a time, and one read.
void StreamCall::StartWriteIfAny() {
  if (writing_ || answers_.empty()) return;
  writing_ = true;
  grpc::WriteOptions options;
  // More follows at once: the library may put them on the wire together.
  if (answers_.size() > 1) options.set_buffer_hint();
  StartWrite(&answers_.front(), options);
}

void StreamCall::CountAnswerBytes() {
  calls_.SetUnsentBytes(context_, static_cast<std::int64_t>(answer_bytes_));
}

// gRPC may call OnDone before Finish returns.
void StreamCall::FinishNow() {
  absl::Status status;
  {
    // The analysis of locks wants it; no other thread changes the status any
    // more.
    const MutexLock lock(mutex_);
    status = *final_status_;
  }
  const grpc::Status final_status = FinalStatus(status, identity_, context_);
  metrics_.rpc.Handled(
      status.code(),
      absl::FromChrono(std::chrono::steady_clock::now() - begun_));
  // Without a time: a stream that was open for long had no slow request.
  Record({.status = status, .details = [this] { return caller(); }});
  Finish(final_status);
}

// The last call of gRPC. RemoveStream may wait for EndStreams, which still uses
// the stream.
void StreamCall::OnDone() {
  calls_.RemoveStream(this);
  delete this;
}

}  // namespace semrank
