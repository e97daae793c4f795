// What changes while a model is trained: weights and optimizer state, the
// progress of the run, and the best epoch so far. A checkpoint holds exactly
// this.
//
//   Processes  rank 0 alone reads and writes the checkpoint, and keeps the best
//              weights; Begin sends the rest to the other ranks.
//   Threads    one thread calls.
#ifndef SEMRANK_MODEL_TRAIN_RUN_TRAINING_STATE_H_
#define SEMRANK_MODEL_TRAIN_RUN_TRAINING_STATE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "model/train/distributed/communicator.h"
#include "model/train/options/train_options.h"
#include "model/train/report/run_progress.h"
#include "model/train/report/training_log.h"
#include "model/train/run/checkpoint.h"
#include "model/train/run/early_stopping.h"
#include "model/train/run/run_warnings.h"
#include "model/train/run/tensor_copies.h"
#include "model/train/towers/model_trainer.h"

namespace semrank {

class TrainingState {
 public:
  // `trainer` is at its initial weights. `options` are resolved; they and what
  // is passed by reference outlive the state.
  TrainingState(const TrainOptions& options,
                std::unique_ptr<ModelTrainer> trainer,
                std::int64_t batches_per_epoch, Checkpoint& checkpoint,
                Communicator& communicator);

  // With --resume, continues from the checkpoint if there is one. Fails as
  // Checkpoint::Restore.
  absl::Status Begin();
  bool resumed() const { return resumed_; }

  ModelTrainer& trainer() { return *trainer_; }
  RunProgress& progress() { return progress_; }
  // Mini-batches so far, over all epochs.
  std::int64_t num_steps() const;

  // Adds an epoch to the progress; sets record.best, and copies the weights if
  // it is.
  void FinishEpoch(EpochRecord& record);
  bool ShouldStop() const { return stopping_.ShouldStop(); }
  // False before the first epoch whose validation gave a number.
  bool has_best() const { return stopping_.best_epoch() > 0; }
  // If there is one.
  const EpochRecord& best() const { return best_; }
  const TensorCopies& best_weights() const { return best_weights_; }

  // If checkpoints are enabled. An error is a warning.
  void WriteCheckpoint();
  void WriteCheckpointIfDue();
  // Whether there is a checkpoint of this run.
  bool HasCheckpoint() const { return checkpoint_.IsOwn(); }
  const std::string& checkpoint_path() const { return checkpoint_.path(); }
  // "; --resume continues from FILE" if there is a checkpoint of this run.
  std::string ResumeAdvice() const;
  // After the last epoch.
  void RemoveCheckpoint();

 private:
  absl::Status Resume();
  absl::Status BroadcastState();
  bool UpdateBest(const EpochRecord& record);

  const TrainOptions& options_;
  const std::int64_t batches_per_epoch_;
  Checkpoint& checkpoint_;
  Communicator& communicator_;
  std::unique_ptr<ModelTrainer> trainer_;
  RunProgress progress_;
  bool resumed_ = false;
  EarlyStopping stopping_;
  EpochRecord best_;
  TensorCopies best_weights_;
  RunWarnings warnings_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_TRAINING_STATE_H_
