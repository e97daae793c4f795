#include "server/requests/request_run.h"

#include <utility>

#include "model/base/status_macros.h"

namespace semrank {

RequestRun::RequestRun(const RpcEnvironment& environment,
                       std::unique_ptr<RequestWork> work)
    : environment_(environment),
      work_(std::move(work)),
      received_(std::chrono::steady_clock::now()) {}

absl::Duration RequestRun::TimeSinceReceived() const {
  return absl::FromChrono(std::chrono::steady_clock::now() - received_);
}

void RequestRun::AddOwnTimes(StageTimes& times) const {
  times[Stage::kParse] += read_time_;
  times[Stage::kQueue] += queue_time_;
}

absl::Status RequestRun::CheckUnread() const {
  const Lifecycle& lifecycle = *environment_.lifecycle;
  SEMRANK_RETURN_IF_ERROR(work_->needs_model() ? lifecycle.CheckAnswering()
                                               : lifecycle.CheckNotStopping());
  if (!work_->refused_unread()) return absl::OkStatus();
  return environment_.admission->CheckRoom();
}

void RequestRun::Start(std::string_view bytes) {
  const absl::Status status = CountAndAdmit(bytes);
  if (!status.ok()) return Finish(status);
  StartAdmitted(bytes);
}

absl::Status RequestRun::CountAndAdmit(std::string_view bytes) {
  TextCount count = {.num_bytes = bytes.size()};
  const MessageTexts* const texts = work_->texts();
  if (texts != nullptr) {
    SEMRANK_RETURN_IF_ERROR(CountTexts(bytes, *texts, count));
  }
  return Admit(count);
}

absl::Status RequestRun::Admit(const TextCount& count) {
  // First, since a refusal may repeat what Measure takes from the count.
  SEMRANK_ASSIGN_OR_RETURN(size_, work_->Measure(count));
  const MessageTexts* const texts = work_->texts();
  if (texts != nullptr) {
    SEMRANK_RETURN_IF_ERROR(CheckNumItems(
        count, *texts, environment_.ranking->limits().max_texts_per_request));
  }
  SEMRANK_ASSIGN_OR_RETURN(permit_,
                           environment_.admission->Admit(size_.num_texts));
  return absl::OkStatus();
}

void RequestRun::StartAdmitted(std::string_view bytes) {
  const absl::Status status = work_->Read(bytes);
  read_time_ = waiting_since_ = TimeSinceReceived();
  environment_.metrics->RecordStage(Stage::kRead, read_time_);
  if (!status.ok()) {
    Finish(status);
  } else if (work_->pool() != nullptr || size_.num_texts > kMaxInlineTexts ||
             size_.num_bytes > kMaxInlineBytes) {
    QueueForWorker();
  } else {
    RunSlice();
  }
}

void RequestRun::QueueForWorker() {
  WorkerPool* const pool = work_->pool();
  HighWaterMark& queued = environment_.admission->queued_texts();
  queued.Raise(size_.num_texts);
  (pool != nullptr ? pool : environment_.workers)->Submit([this, &queued] {
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
  environment_.metrics->RecordStage(Stage::kQueue, queue_time_);
  Finish(progress.ok() ? MakeAnswer(work_->response()) : progress.status());
}

absl::StatusOr<Progress> RequestRun::Advance() {
  SEMRANK_RETURN_IF_ERROR(CheckStillWanted(*this));
  return work_->Advance(*this);
}

void RequestRun::Finish(const absl::Status& status) {
  if (!status.ok()) environment_.metrics->CountRejected(status);
  // The permit goes back first: a caller that has its answer must find room.
  permit_ = Admission::Permit();
  Done(status);
}

}  // namespace semrank
