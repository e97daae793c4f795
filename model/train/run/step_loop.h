// The steps of a trainer over the mini-batches of an epoch: of a training run
// (epoch_loop.h), and of the pass that fits the lexical weight.
//
//   Schedule  learning rates are those of options.epochs epochs.
//   Stop      Ctrl-C and errors end the epoch of all processes after the same
//             step.
//   Threads   one thread calls; the trainer's pool works.
#ifndef SEMRANK_MODEL_TRAIN_RUN_STEP_LOOP_H_
#define SEMRANK_MODEL_TRAIN_RUN_STEP_LOOP_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/train/batches/batch_source.h"
#include "model/train/distributed/communicator.h"
#include "model/train/options/train_options.h"
#include "model/train/report/run_progress.h"
#include "model/train/towers/model_trainer.h"

namespace semrank {

class StepLoop {
 public:
  // `options` are resolved; all arguments outlive the loop.
  StepLoop(const TrainOptions& options, BatchSource& batches,
           ModelTrainer& trainer, Communicator& communicator)
      : options_(options),
        batches_(batches),
        trainer_(trainer),
        communicator_(communicator) {}

  // Takes the steps of `epoch`, counted from 1, that follow those of `sums`,
  // and adds to it. `after_step` runs between two steps. Returns Cancelled
  // after Ctrl-C, OutOfRange when the loss is no number, ResourceExhausted
  // beyond --memory_limit, and otherwise errors of the batches.
  absl::Status RunEpoch(int epoch, EpochSums& sums,
                        const std::function<void()>& after_step);

  // Memory that the caller takes after the epoch, for --memory_limit.
  void set_bytes_to_come(std::int64_t bytes) { bytes_to_come_ = bytes; }

  // The learning rate of a step, counted from 0 over all epochs.
  double LearningRateOf(std::int64_t step) const;

 private:
  absl::StatusOr<const MiniBatch*> NextBatch();
  absl::Status TakeStep(const MiniBatch& batch, int epoch, EpochSums& sums);
  absl::Status CheckMemory();

  const TrainOptions& options_;
  BatchSource& batches_;
  ModelTrainer& trainer_;
  Communicator& communicator_;
  std::int64_t bytes_to_come_ = 0;
  int measured_steps_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_STEP_LOOP_H_
