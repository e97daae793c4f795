#include "model/train/run/training_state.h"

#include <cstdio>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/train/run/initial_model.h"
#include "model/train/ssi/ssi_trainer.h"
#include "model/train/ssi/ssi_weights.h"
#include "model/train/towers/two_tower_trainer.h"

namespace semrank {

std::unique_ptr<ModelTrainer> MakeModelTrainer(const TrainOptions& options,
                                               const TrainingData& data,
                                               ThreadPool& pool,
                                               Communicator& communicator) {
  if (options.tower.kind == v1::TOWER_KIND_SSI) {
    return std::make_unique<SsiTrainer>(InitialSsiWeights(options, data),
                                        options, pool, communicator);
  }
  return std::make_unique<TwoTowerTrainer>(
      InitialTwoTowerWeights(options.tower, data.featurizer.num_features(),
                             options.seed),
      options, pool, communicator);
}

TrainingState::TrainingState(const TrainOptions& options,
                             const TrainingData& data,
                             std::int64_t batches_per_epoch,
                             Checkpoint& checkpoint, ThreadPool& pool,
                             Communicator& communicator)
    : options_(options),
      batches_per_epoch_(batches_per_epoch),
      checkpoint_(checkpoint),
      communicator_(communicator),
      trainer_(MakeModelTrainer(options, data, pool, communicator)),
      stopping_(options.patience) {}

absl::Status TrainingState::Begin() {
  if (!options_.initial_model.version_dir.empty()) {
    SEMRANK_RETURN_IF_ERROR(AgreeOnStatus(
        communicator_, CopyInitialWeights(options_.initial_model, *trainer_)));
  }
  // Asked of rank 0 alone: another host may not see the folder.
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
  absl::StatusOr<RunProgress> progress = RunProgress();
  if (communicator_.is_rank0()) {
    progress = checkpoint_.Restore(*trainer_, best_weights_);
  }
  SEMRANK_RETURN_IF_ERROR(AgreeOnStatus(communicator_, progress.status()));
  progress_ = *std::move(progress);
  SEMRANK_RETURN_IF_ERROR(BroadcastState());
  trainer_->Restored(num_steps());
  // Early stopping has no state in the checkpoint: it is replayed.
  for (const EpochRecord& record : progress_.epochs) UpdateBest(record);
  resumed_ = true;
  absl::FPrintF(stderr, "resuming from %s: epoch %d, %d of %d batches done\n",
                checkpoint_.path(), progress_.epoch(), progress_.num_batches,
                batches_per_epoch_);
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
  return (progress_.epoch() - 1) * batches_per_epoch_ + progress_.num_batches;
}

bool TrainingState::UpdateBest(const EpochRecord& record) {
  // Without validation the last epoch counts as the best.
  if (!stopping_.Add(record.validation.Score().value_or(record.epoch))) {
    return false;
  }
  best_ = record;
  best_.best = true;
  return true;
}

void TrainingState::FinishEpoch(EpochRecord& record) {
  record.best = UpdateBest(record);
  progress_.FinishEpoch(record);
  // The others publish nothing: they are spared the memory of a second model.
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
