// What changes while a model is trained: weights and optimizer state, the
// history of the run, and the best epoch so far. A checkpoint holds exactly
// this.
//
//   Processes  the first alone reads and writes the checkpoint, and keeps the
//              best weights; Begin sends the rest to the others.
//   Threads    one thread calls.
#ifndef SEMRANK_MODEL_TRAIN_RUN_TRAINING_STATE_H_
#define SEMRANK_MODEL_TRAIN_RUN_TRAINING_STATE_H_

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "model/train/distributed/communicator.h"
#include "model/train/options/train_options.h"
#include "model/train/report/run_history.h"
#include "model/train/report/training_log.h"
#include "model/train/run/checkpoint.h"
#include "model/train/run/tensor_copies.h"
#include "model/train/towers/model_trainer.h"

namespace semrank {

// Remembers the best epoch, and decides when to stop waiting for a better one.
class EarlyStopping {
 public:
  // `patience`: epochs without a higher score before the end; 0 = never stops.
  explicit EarlyStopping(int patience) : patience_(patience) {}

  // The score of the next epoch; higher is better. True if it is the best so
  // far: its score is the highest, of equal ones the first, or less than
  // `noise` of the highest below that. NaN, of weights that diverged, is never
  // the best.
  bool Add(double score, double noise = 0) {
    ++num_epochs_;
    if (std::isnan(score)) return false;
    if (highest_epoch_ == 0 || score > highest_score_) {
      highest_epoch_ = num_epochs_;
      highest_score_ = score;
      noise_ = noise;
    } else if (score <= highest_score_ - noise_) {
      return false;
    }
    best_epoch_ = num_epochs_;
    return true;
  }

  // The first epoch is 1; 0 without one.
  int best_epoch() const { return best_epoch_; }
  // The first epoch of the highest score.
  int highest_epoch() const { return highest_epoch_; }
  bool ShouldStop() const {
    return patience_ > 0 && num_epochs_ - highest_epoch_ >= patience_;
  }

 private:
  int patience_;
  int num_epochs_ = 0;
  int best_epoch_ = 0;
  int highest_epoch_ = 0;
  double highest_score_ = 0;
  double noise_ = 0;  // of the highest score
};

// Prints errors that do not end a run on standard error: a full disk must not
// cost the hours that a run has taken.
class RunWarnings {
 public:
  // Prints `what` with an error's message, once until `what` has succeeded: a
  // checkpoint may fail after each of a million batches.
  void WarnUnlessOk(const std::string& what, const absl::Status& status) {
    if (status.ok()) {
      shown_.erase(what);
    } else if (shown_.insert(what).second) {
      absl::FPrintF(stderr, "%s: %s; the run continues\n", what,
                    std::string(status.message()));
    }
  }

 private:
  std::set<std::string> shown_;
};

class TrainingState {
 public:
  // `trainer` is at its initial weights. `options` are resolved; they and what
  // is passed by reference outlive the state.
  TrainingState(const TrainOptions& options,
                std::unique_ptr<ModelTrainer> trainer,
                std::int64_t batches_per_epoch, Checkpoint& checkpoint,
                Communicator& processes);

  // With --resume, continues from the checkpoint if there is one. Fails as
  // Checkpoint::Restore.
  absl::Status Begin();
  bool resumed() const { return resumed_; }

  ModelTrainer& trainer() { return *trainer_; }
  RunHistory& history() { return history_; }
  // Mini-batches so far, over all epochs.
  std::int64_t num_steps() const;

  // Adds an epoch to the history; sets record.best, and copies the weights if
  // it is.
  void FinishEpoch(EpochRecord& record);
  bool ShouldStop() const { return stopping_.ShouldStop(); }
  int highest_epoch() const { return stopping_.highest_epoch(); }
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
  Communicator& processes_;
  std::unique_ptr<ModelTrainer> trainer_;
  RunHistory history_;
  bool resumed_ = false;
  EarlyStopping stopping_;
  EpochRecord best_;
  TensorCopies best_weights_;
  RunWarnings warnings_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_TRAINING_STATE_H_
