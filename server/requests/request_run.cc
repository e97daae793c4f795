#include "server/requests/request_run.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "server/base/errors.h"

namespace semrank {

// The order of the checks is the design: each is cheaper than what it may spare
// the server. State and free permits need nothing of the message, the expected
// wait needs its size, exact admission needs one pass over its bytes. Only then
// does a method normalise, copy or embed.
//
// A run has no owner. Its subclass deletes it in Done, so every path through
// this file ends in exactly one Finish, and nothing touches the run after
// Finish or after a Submit: another thread may have deleted it already.

absl::Status CheckBeforeReading(const RequestWork& work,
                                const ServerParts& parts) {
  const Lifecycle& lifecycle = *parts.lifecycle;
  SEMRANK_RETURN_IF_ERROR(work.needs_model() ? lifecycle.CheckAnswering()
                                             : lifecycle.CheckNotStopping());
  if (!work.refused_unread()) return absl::OkStatus();
  return parts.admission->CheckRoom();
}

namespace {

bool IsLong(const RequestSize& size) {
  return size.num_texts > RequestRun::kMaxInlineTexts ||
         size.num_bytes > RequestRun::kMaxInlineBytes;
}

// Before a message is read. About a title of ten words; short titles make the
// guess too low, and then ReadAndAdmit refuses what was let through.
RequestSize GuessSize(std::size_t num_bytes) {
  constexpr std::size_t kBytesPerText = 64;
  return {static_cast<std::int64_t>(num_bytes / kBytesPerText), num_bytes};
}

WorkerPool& PoolOf(const RequestWork& work, const ServerParts& parts) {
  WorkerPool* const pool = work.pool();
  return pool != nullptr ? *pool : *parts.workers;
}

}  // namespace

// The same check as in ReadAndAdmit, with a guess for the number of texts. It
// spares the copy of a message into one piece, 6 % of the time that gRPC's
// threads spend on a refused call, and the whole body of one over HTTP.
absl::Status CheckWaitUnread(const RequestWork& work, const ServerParts& parts,
                             std::size_t num_bytes, absl::Duration time_left) {
  if (work.never_shed()) return absl::OkStatus();
  const RequestSize size = GuessSize(num_bytes);
  const absl::Duration cost =
      parts.admission->costs().Estimate(work.kind(), size.num_texts);
  // Such a request runs in this thread whatever the workers do, unless its
  // exact number of texts says otherwise.
  if (cost <= RequestRun::kMaxInlineCost) return absl::OkStatus();
  return PoolOf(work, parts).CheckWait(IsLong(size), cost, time_left);
}

RequestRun::RequestRun(const ServerParts& parts,
                       std::unique_ptr<RequestWork> work)
    : parts_(parts),
      work_(std::move(work)),
      received_(std::chrono::steady_clock::now()) {}

absl::Duration RequestRun::TimeSinceReceived() const {
  return absl::FromChrono(std::chrono::steady_clock::now() - received_);
}

void RequestRun::AddOwnTimes(StageTimes& times) const {
  times[Stage::kParse] += read_time_;
  times[Stage::kQueue] += queue_time_;
}

void RequestRun::Start(std::string_view bytes) {
  const absl::Status status = ReadAndAdmit(bytes);
  if (!status.ok()) return Finish(status);
  read_time_ = waiting_since_ = TimeSinceReceived();
  parts_.metrics->RecordStage(Stage::kRead, read_time_);
  // Last: when either returns, another thread may have deleted the run.
  if (inline_) {
    RunSlice();
  } else {
    QueueSlice();
  }
}

void RequestRun::StartDecoding(std::size_t num_bytes, Decode decode) {
  size_ = GuessSize(num_bytes);
  cost_ = EstimateCost();
  if (cost_ <= kMaxInlineCost) {
    const absl::StatusOr<std::string_view> bytes = decode();
    return bytes.ok() ? Start(*bytes) : Finish(bytes.status());
  }
  const absl::Status status = CheckWait();
  if (!status.ok()) return Finish(status);
  waiting_since_ = TimeSinceReceived();
  QueueForWorker([this, decode = std::move(decode)] { DecodeAndRun(decode); });
}

absl::Status RequestRun::DecodeAndAdmit(const Decode& decode) {
  SEMRANK_RETURN_IF_ERROR(CheckStillWanted(*this));
  SEMRANK_RETURN_IF_ERROR(CheckInTime());
  SEMRANK_ASSIGN_OR_RETURN(const std::string_view bytes, decode());
  SEMRANK_ASSIGN_OR_RETURN(size_, work_->Read(bytes));
  SEMRANK_ASSIGN_OR_RETURN(permit_, parts_.admission->Admit(size_.num_texts));
  return absl::OkStatus();
}

// In a worker: the first slice follows at once, since the request has waited
// already. Decoding counts as running, so that costs include it.
void RequestRun::DecodeAndRun(const Decode& decode) {
  const absl::Duration begin = TimeSinceReceived();
  queue_time_ = begin - waiting_since_;
  const absl::Status status = DecodeAndAdmit(decode);
  waiting_since_ = TimeSinceReceived();
  read_time_ = run_time_ = waiting_since_ - begin;
  if (!status.ok()) {
    parts_.metrics->RecordStage(Stage::kQueue, queue_time_);
    return Finish(status);
  }
  parts_.metrics->RecordStage(Stage::kRead, read_time_);
  RunSlice();
}

absl::Status RequestRun::ReadAndAdmit(std::string_view bytes) {
  SEMRANK_ASSIGN_OR_RETURN(size_, work_->Read(bytes));
  // The wait is checked before the permits are taken. A request that is refused
  // for its wait must not hold permits, even briefly: others would be refused
  // for want of them.
  cost_ = EstimateCost();
  inline_ = RunsInline();
  if (!inline_) SEMRANK_RETURN_IF_ERROR(CheckWait());
  SEMRANK_ASSIGN_OR_RETURN(permit_, parts_.admission->Admit(size_.num_texts));
  return absl::OkStatus();
}

bool RequestRun::RunsInline() const {
  if (work_->pool() != nullptr || IsLong(size_)) return false;
  // The level excludes this request, which has no permit yet. Two threads may
  // both see an idle server and both run inline; that delays reading by one
  // slice.
  return cost_ <= kMaxInlineCost || parts_.admission->inflight_texts() == 0;
}

absl::Duration RequestRun::EstimateCost() const {
  return parts_.admission->costs().Estimate(work_->kind(), size_.num_texts);
}

absl::Status RequestRun::CheckWait() const {
  if (work_->never_shed()) return absl::OkStatus();
  return pool().CheckWait(IsLong(size_), cost_, TimeLeft());
}

WorkerPool& RequestRun::pool() const { return PoolOf(*work_, parts_); }

// Waits for the first slice, or for the next one of a long request.
void RequestRun::QueueForWorker(std::function<void()> run) {
  HighWaterMark& queued = parts_.admission->queued_texts();
  queued.Raise(size_.num_texts);
  // A later slice is cheaper by what ran already, so that the queue's expected
  // wait does not count finished work.
  pool().Submit(
      {.run =
           [&queued, num_texts = size_.num_texts, run = std::move(run)] {
             queued.Lower(num_texts);
             run();
           },
       .is_long = IsLong(size_),
       .has_begun = run_time_ > absl::ZeroDuration(),
       .cost = std::max(cost_ - run_time_, absl::ZeroDuration())});
}

void RequestRun::RunSlice() {
  const absl::Duration begin = TimeSinceReceived();
  queue_time_ += begin - waiting_since_;
  const absl::StatusOr<Progress> progress = Advance();
  const absl::Duration end = TimeSinceReceived();
  run_time_ += end - begin;
  if (progress.ok() && *progress == Progress::kMore) {
    waiting_since_ = end;
    QueueSlice();
    return;
  }
  parts_.metrics->RecordStage(Stage::kQueue, queue_time_);
  if (!progress.ok()) return Finish(progress.status());
  // Only complete runs are measured: one that was cancelled half-way would make
  // the kind of request look cheap.
  parts_.admission->costs().Record(work_->kind(), size_.num_texts, run_time_);
  // Serialised while the permits are still held, since the response takes
  // memory.
  Finish(SerializeResponse(work_->response()));
}

absl::StatusOr<Progress> RequestRun::Advance() {
  SEMRANK_RETURN_IF_ERROR(CheckStillWanted(*this));
  // Only before the first slice: work that has begun is not wasted for an
  // estimate, and a passed deadline ends it anyway.
  if (!inline_ && run_time_ == absl::ZeroDuration()) {
    SEMRANK_RETURN_IF_ERROR(CheckInTime());
  }
  return work_->Advance(*this);
}

absl::Status RequestRun::CheckInTime() const {
  // While none waits for its place it runs, whatever the estimate says: it may
  // be wrong, and only a run corrects it.
  const absl::Duration time_left = TimeLeft();
  if (cost_ <= time_left || !pool().has_queue()) return absl::OkStatus();
  return MakeError(
      absl::StatusCode::kDeadlineExceeded, "DEADLINE_EXCEEDED",
      absl::StrFormat("the call's deadline is in %d ms, and it would run for "
                      "%d ms: it was not begun",
                      absl::ToInt64Milliseconds(time_left),
                      absl::ToInt64Milliseconds(cost_)));
}

void RequestRun::Finish(const absl::Status& status) {
  if (!status.ok()) parts_.metrics->CountRejected(status);
  // Permits go back first: a caller that has its response must find room.
  permit_ = Admission::Permit();
  Done(status);
}

}  // namespace semrank
