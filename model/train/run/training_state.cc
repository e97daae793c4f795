#include "model/train/run/training_state.h"

#include <cstdio>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"

namespace semrank {

TrainingState::TrainingState(const TrainOptions& options,
                             std::unique_ptr<ModelTrainer> trainer,
                             std::int64_t batches_per_epoch,
                             Checkpoint& checkpoint, Communicator& communicator)
    : options_(options),
      batches_per_epoch_(batches_per_epoch),
      checkpoint_(checkpoint),
      communicator_(communicator),
      trainer_(std::move(trainer)),
      stopping_(options.patience) {}

absl::Status TrainingState::Begin() {
  // Another host may not see the folder, so rank 0 alone is asked.
  const bool exists = communicator_.is_rank0() && checkpoint_.Exists();
  const bool resumes = exists && options_.checkpoint.resume;
  if (BroadcastFromRank0(communicator_, resumes ? 1 : 0) == 1) return Resume();
  if (exists) {
    absl::FPrintF(stderr,
                  "%s is of an unfinished run and will be replaced; --resume "
                  "would continue it\n",
                  checkpoint_.path());
  }
  return absl::OkStatus();
}

// The other ranks may not even see the folder of the checkpoint.
absl::Status TrainingState::Resume() {
  SEMRANK_ASSIGN_OR_RETURN(progress_, OnRank0(communicator_, [this] {
                             return checkpoint_.Restore(*trainer_,
                                                        best_weights_);
                           }));
  SEMRANK_RETURN_IF_ERROR(BroadcastState());
  trainer_->Restored(num_steps());
  // Early stopping has no state in the checkpoint: it is replayed.
  for (const EpochRecord& record : progress_.epochs) UpdateBest(record);
  resumed_ = true;
  absl::FPrintF(stderr, "resuming from %s: epoch %d, %d of %d batches done\n",
                checkpoint_.path(), progress_.epoch(),
                progress_.current.num_batches, batches_per_epoch_);
  return absl::OkStatus();
}

absl::Status TrainingState::BroadcastState() {
  if (communicator_.num_processes() == 1) return absl::OkStatus();
  SEMRANK_ASSIGN_OR_RETURN(
      progress_, ParseProgress(BroadcastFromRank0(communicator_,
                                                  FormatProgress(progress_))));
  for (const StateTensor& tensor : trainer_->State()) {
    BroadcastFromRank0(communicator_, tensor.values);
  }
  return absl::OkStatus();
}

std::int64_t TrainingState::num_steps() const {
  return (progress_.epoch() - 1) * batches_per_epoch_ +
         progress_.current.num_batches;
}

bool TrainingState::UpdateBest(const EpochRecord& record) {
  if (!stopping_.Add(record.score)) return false;
  best_ = record;
  best_.best = true;
  return true;
}

void TrainingState::FinishEpoch(EpochRecord& record) {
  record.best = UpdateBest(record);
  progress_.FinishEpoch(record);
  // The other ranks publish nothing and need no second model in memory.
  if (record.best && communicator_.is_rank0()) {
    best_weights_.Assign(trainer_->Weights());
  }
}

void TrainingState::WriteCheckpoint() {
  if (!checkpoint_.enabled()) return;
  warnings_.WarnUnlessOk(
      "no checkpoint", checkpoint_.Write(progress_, *trainer_, best_weights_));
}

void TrainingState::WriteCheckpointIfDue() {
  if (checkpoint_.IsDue()) WriteCheckpoint();
}

std::string TrainingState::ResumeAdvice() const {
  return HasCheckpoint() ? absl::StrFormat("; --resume continues from %s",
                                           checkpoint_.path())
                         : "";
}

void TrainingState::RemoveCheckpoint() {
  warnings_.WarnUnlessOk("the checkpoint stays", checkpoint_.Remove());
}

}  // namespace semrank
