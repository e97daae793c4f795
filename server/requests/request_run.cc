#include "server/requests/request_run.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "model/base/status_macros.h"
#include "server/base/errors.h"

namespace semrank {

absl::Status CheckBeforeReading(const RequestWork& work,
                                const ServerParts& parts) {
  const Lifecycle& lifecycle = *parts.lifecycle;
  SEMRANK_RETURN_IF_ERROR(work.needs_model() ? lifecycle.CheckAnswering()
                                             : lifecycle.CheckNotStopping());
  if (!work.refused_unread()) return absl::OkStatus();
  return parts.admission->CheckRoom();
}

RequestRun::RequestRun(const ServerParts& parts,
                       std::unique_ptr<RequestWork> work)
    : parts_(parts),
      work_(std::move(work)),
      received_(std::chrono::steady_clock::now()) {}

absl::Duration RequestRun::TimeSinceReceived() const {
  return absl::FromChrono(std::chrono::steady_clock::now() - received_);
}

absl::Status RequestRun::CheckWaitUnread(std::size_t num_bytes) const {
  constexpr std::size_t kBytesPerText = 64;
  if (work_->never_shed()) return absl::OkStatus();
  const auto num_texts = static_cast<std::int64_t>(num_bytes / kBytesPerText);
  const absl::Duration cost =
      parts_.admission->costs().Estimate(work_->kind(), num_texts);
  if (cost <= kMaxInlineCost) return absl::OkStatus();
  return pool().CheckWait(IsLong({num_texts, num_bytes}), cost, TimeLeft());
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
  if (inline_) {
    RunSlice();
  } else {
    QueueForWorker();
  }
}

absl::Status RequestRun::ReadAndAdmit(std::string_view bytes) {
  SEMRANK_ASSIGN_OR_RETURN(size_, work_->Read(bytes));
  cost_ = parts_.admission->costs().Estimate(work_->kind(), size_.num_texts);
  inline_ = RunsInline();
  if (!inline_ && !work_->never_shed()) {
    SEMRANK_RETURN_IF_ERROR(pool().CheckWait(IsLong(size_), cost_, TimeLeft()));
  }
  SEMRANK_ASSIGN_OR_RETURN(permit_, parts_.admission->Admit(size_.num_texts));
  return absl::OkStatus();
}

bool RequestRun::RunsInline() const {
  if (work_->pool() != nullptr || IsLong(size_)) return false;
  return cost_ <= kMaxInlineCost || parts_.admission->inflight_texts() == 0;
}

WorkerPool& RequestRun::pool() const {
  WorkerPool* const pool = work_->pool();
  return pool != nullptr ? *pool : *parts_.workers;
}

void RequestRun::QueueForWorker() {
  HighWaterMark& queued = parts_.admission->queued_texts();
  queued.Raise(size_.num_texts);
  pool().Submit({.run =
                     [this, &queued] {
                       queued.Lower(size_.num_texts);
                       RunSlice();
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
    QueueForWorker();
    return;
  }
  parts_.metrics->RecordStage(Stage::kQueue, queue_time_);
  if (!progress.ok()) return Finish(progress.status());
  parts_.admission->costs().Record(work_->kind(), size_.num_texts, run_time_);
  Finish(SerializeResponse(work_->response()));
}

absl::StatusOr<Progress> RequestRun::Advance() {
  SEMRANK_RETURN_IF_ERROR(CheckStillWanted(*this));
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
