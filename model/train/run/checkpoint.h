// checkpoint.safetensors: an unfinished training run on disk, from which
// another process continues to the same bits.
//
//   File     in the model directory, where readers of models ignore it:
//            trainer's state ("state.*") and the best epoch's weights
//            ("best.*") as tensors, the rest as metadata. A temporary file is
//            written and renamed: after a crash at any moment the file is the
//            old or the new one.
//   Damage   a checksum over everything; DataLoss names file and reason.
//   Owner    the run that holds the directory's lock (run_files.h).
//   Threads  one thread calls.
#ifndef SEMRANK_MODEL_TRAIN_RUN_CHECKPOINT_H_
#define SEMRANK_MODEL_TRAIN_RUN_CHECKPOINT_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/train/distributed/communicator.h"
#include "model/train/options/train_options.h"
#include "model/train/report/run_history.h"
#include "model/train/run/tensor_copies.h"
#include "model/train/towers/model_trainer.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

// The identity of a training run, everything that decides a bit of its weights,
// as a JSON object: the configuration, the options that it does not hold, and
// the fingerprint of each file of pairs. `options` are resolved. Fails as
// FileFingerprint.
absl::StatusOr<std::string> DescribeRun(const TrainOptions& options,
                                        const v1::ModelConfig& config);

// Internal unless all processes have the same identity, without judged queries,
// which only the first reads: they would wait for each other in different
// places.
absl::Status CheckSameRun(TrainOptions options, const v1::ModelConfig& config,
                          Communicator& processes);

// The memory limit, in bytes, of the run whose checkpoint is in `model_dir`; 0
// if there is none that can be read.
std::int64_t MemoryLimitOfCheckpoint(const std::string& model_dir);

class Checkpoint {
 public:
  // The checkpoint is valid only for the run of the same `identity`, as from
  // DescribeRun; messages name the members that differ.
  Checkpoint(const CheckpointOptions& options, const std::string& model_dir,
             std::string identity);

  const std::string& path() const { return path_; }
  bool Exists() const;
  // Whether there is a checkpoint of this run.
  bool IsOwn() const;
  bool enabled() const { return options_.enabled(); }

  // The history of a checkpoint whose tensors are not checked; nullopt if there
  // is none that can be read.
  std::optional<RunHistory> ReadHistory() const;

  // Call it once after each mini-batch.
  bool IsDue();
  // After an error of the file system the old checkpoint is still there.
  absl::Status Write(const RunHistory& history, ModelTrainer& trainer,
                     const TensorCopies& best);
  // Overwrites the trainer's state and `best`. FailedPrecondition when it is
  // the checkpoint of another run; then, as with DataLoss, nothing changed.
  absl::StatusOr<RunHistory> Restore(ModelTrainer& trainer,
                                     TensorCopies& best) const;
  // Removes the checkpoint after the run. The checkpoint of another run stays,
  // unless that run was refused at its end.
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
