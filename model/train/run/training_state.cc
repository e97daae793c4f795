#include "model/train/run/training_state.h"

#include <cstdio>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"

namespace semrank {

TrainingState::TrainingState(const TrainOptions& options,
                             std::unique_ptr<ModelTrainer> trainer,
                             std::int64_t batches_per_epoch,
                             Checkpoint& checkpoint, Communicator& processes)
    : options_(options),
      batches_per_epoch_(batches_per_epoch),
      checkpoint_(checkpoint),
      processes_(processes),
      trainer_(std::move(trainer)),
      stopping_(options.patience) {}

absl::Status TrainingState::Begin() {
  // Another host may not see the folder, so the first process alone is asked.
  const bool exists = processes_.is_first() && checkpoint_.Exists();
  const bool resumes = exists && options_.checkpoint.resume;
  if (processes_.Broadcast(resumes ? 1.0 : 0.0) == 1) return Resume();
  if (exists) {
    absl::FPrintF(stderr,
                  "%s is of an unfinished run and will be replaced; --resume "
                  "would continue it\n",
                  checkpoint_.path());
  }
  return absl::OkStatus();
}

absl::Status TrainingState::Resume() {
  SEMRANK_ASSIGN_OR_RETURN(history_, processes_.OnFirst([this] {
    return checkpoint_.Restore(*trainer_, best_weights_);
  }));
  // The other processes may not even see the folder of the checkpoint.
  SEMRANK_RETURN_IF_ERROR(BroadcastState());
  // The batches of an epoch would begin outside their list.
  if (history_.current.num_batches > batches_per_epoch_) {
    return absl::DataLossError(
        absl::StrFormat("%s has %d batches of epoch %d, and an epoch has %d",
                        checkpoint_.path(), history_.current.num_batches,
                        history_.epoch(), batches_per_epoch_));
  }
  // Adam's correction counts steps, which are not a tensor of the state.
  trainer_->Restored(num_steps());
  // Early stopping has no state in the checkpoint: it is replayed.
  for (const EpochRecord& record : history_.epochs) UpdateBest(record);
  resumed_ = true;
  absl::FPrintF(stderr, "resuming from %s: epoch %d, %d of %d batches done\n",
                checkpoint_.path(), history_.epoch(),
                history_.current.num_batches, batches_per_epoch_);
  return absl::OkStatus();
}

absl::Status TrainingState::BroadcastState() {
  if (processes_.is_alone()) return absl::OkStatus();
  SEMRANK_ASSIGN_OR_RETURN(
      history_, ParseHistory(processes_.Broadcast(FormatHistory(history_))));
  // All processes have the same tensors in the same order, so their Broadcast
  // calls match.
  for (const StateTensor& tensor : trainer_->State()) {
    processes_.Broadcast(tensor.values);
  }
  return absl::OkStatus();
}

std::int64_t TrainingState::num_steps() const {
  return (history_.epoch() - 1) * batches_per_epoch_ +
         history_.current.num_batches;
}

// All processes have the same scores, so all stop in the same epoch. Only the
// first, which keeps the best weights, knows the noise.
bool TrainingState::UpdateBest(const EpochRecord& record) {
  // The later epochs of a rate that falls are better, unless judged queries
  // say more than their noise against them.
  const bool later_is_better =
      options_.early_stopping == EpochMeasure::kNdcg &&
      options_.optimizer.decay != v1::LEARNING_RATE_DECAY_NONE;
  const double noise = later_is_better ? record.validation.ndcg_error : 0;
  if (!stopping_.Add(record.score, noise)) return false;
  best_ = record;
  best_.best = true;
  return true;
}

void TrainingState::FinishEpoch(EpochRecord& record) {
  record.best = UpdateBest(record);
  history_.FinishEpoch(record);
  // The other processes publish nothing and need no second model in memory.
  if (record.best && processes_.is_first()) {
    // A copy: the trainer changes its weights in place.
    best_weights_.Assign(trainer_->Weights());
  }
}

// A full disk must not end a run that would otherwise finish.
void TrainingState::WriteCheckpoint() {
  if (!checkpoint_.enabled()) return;
  warnings_.WarnUnlessOk("no checkpoint",
                         checkpoint_.Write(history_, *trainer_, best_weights_));
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
