#include "server/requests/request_run.h"

#include <utility>

#include "model/base/status_macros.h"

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

void RequestRun::AddOwnTimes(StageTimes& times) const {
  times[Stage::kParse] += read_time_;
  times[Stage::kQueue] += queue_time_;
}

void RequestRun::Start(std::string_view bytes) {
  const absl::Status status = ReadAndAdmit(bytes);
  if (!status.ok()) return Finish(status);
  read_time_ = waiting_since_ = TimeSinceReceived();
  parts_.metrics->RecordStage(Stage::kRead, read_time_);
  if (work_->pool() != nullptr || size_.num_texts > kMaxInlineTexts ||
      size_.num_bytes > kMaxInlineBytes) {
    QueueForWorker();
  } else {
    RunSlice();
  }
}

absl::Status RequestRun::ReadAndAdmit(std::string_view bytes) {
  SEMRANK_ASSIGN_OR_RETURN(size_, work_->Read(bytes));
  SEMRANK_ASSIGN_OR_RETURN(permit_, parts_.admission->Admit(size_.num_texts));
  return absl::OkStatus();
}

void RequestRun::QueueForWorker() {
  WorkerPool* const pool = work_->pool();
  HighWaterMark& queued = parts_.admission->queued_texts();
  queued.Raise(size_.num_texts);
  (pool != nullptr ? pool : parts_.workers)->Submit([this, &queued] {
    queued.Lower(size_.num_texts);
    RunSlice();
  });
}

void RequestRun::RunSlice() {
  queue_time_ += TimeSinceReceived() - waiting_since_;
  const absl::StatusOr<Progress> progress = Advance();
  if (progress.ok() && *progress == Progress::kMore) {
    waiting_since_ = TimeSinceReceived();
    QueueForWorker();
    return;
  }
  parts_.metrics->RecordStage(Stage::kQueue, queue_time_);
  Finish(progress.ok() ? SerializeResponse(work_->response())
                       : progress.status());
}

absl::StatusOr<Progress> RequestRun::Advance() {
  SEMRANK_RETURN_IF_ERROR(CheckStillWanted(*this));
  return work_->Advance(*this);
}

void RequestRun::Finish(const absl::Status& status) {
  if (!status.ok()) parts_.metrics->CountRejected(status);
  // Permits go back first: a caller that has its response must find room.
  permit_ = Admission::Permit();
  Done(status);
}

}  // namespace semrank
