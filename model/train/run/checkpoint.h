// checkpoint.safetensors: an unfinished training run on disk, from which
// another process continues to the same bits.
//
//   File     in the model directory, where readers of models ignore it:
//            trainer's state ("state.*") and the best epoch's weights
//            ("best.*") as tensors, the rest as metadata. Written to a
//            temporary file and renamed: after a crash at any moment it is the
//            old or the new one.
//   Damage   a checksum over everything; DataLoss names file and reason.
//   Owner    the run that holds the directory's lock (run_lock.h).
//   Threads  one thread.
#ifndef SEMRANK_MODEL_TRAIN_RUN_CHECKPOINT_H_
#define SEMRANK_MODEL_TRAIN_RUN_CHECKPOINT_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/train/options/checkpoint_options.h"
#include "model/train/report/run_progress.h"
#include "model/train/run/tensor_copies.h"
#include "model/train/towers/model_trainer.h"

namespace semrank {

inline constexpr char kCheckpointFile[] = "checkpoint.safetensors";

class Checkpoint {
 public:
  // `identity`: what must be equal for a run to be the same, as a JSON object
  // of objects or values; messages name the members that differ.
  Checkpoint(const CheckpointOptions& options, const std::string& model_dir,
             std::string identity);

  const std::string& path() const { return path_; }
  bool Exists() const;
  // Whether there is a checkpoint of this run.
  bool IsOwn() const;
  bool enabled() const { return options_.enabled(); }

  // To be called once after each mini-batch.
  bool IsDue();
  // After an error of the file system the old checkpoint is still there.
  absl::Status Write(const RunProgress& progress, ModelTrainer& trainer,
                     const TensorCopies& best);
  // Overwrites the trainer's state and `best`. FailedPrecondition when it is
  // the checkpoint of another run; then, as with DataLoss, nothing changed.
  absl::StatusOr<RunProgress> Restore(ModelTrainer& trainer,
                                      TensorCopies& best) const;
  // After the run. Another run's checkpoint stays.
  absl::Status Remove() const;

 private:
  CheckpointOptions options_;
  std::string path_;
  std::string identity_;
  std::chrono::steady_clock::time_point last_written_;
  std::int64_t batches_since_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_CHECKPOINT_H_
