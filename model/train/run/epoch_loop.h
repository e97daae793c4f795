// The epochs of one training run: mini-batch after mini-batch, validation after
// each epoch, until the last one, early stopping or Ctrl-C.
//
//   Threads  one thread calls; the work is done by the pool.
#ifndef SEMRANK_MODEL_TRAIN_RUN_EPOCH_LOOP_H_
#define SEMRANK_MODEL_TRAIN_RUN_EPOCH_LOOP_H_

#include <cstdint>
#include <functional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/train/batches/batch_source.h"
#include "model/train/distributed/communicator.h"
#include "model/train/options/train_options.h"
#include "model/train/report/run_history.h"
#include "model/train/report/training_log.h"
#include "model/train/report/training_report.h"
#include "model/train/run/training_state.h"
#include "model/train/towers/model_trainer.h"
#include "model/train/validation/validator.h"

namespace semrank {

// The steps of a trainer over the mini-batches of an epoch: of a training run,
// and of the pass that fits the lexical weight.
//
//   Schedule  learning rates are those of options.epochs epochs.
//   Stop      Ctrl-C and errors end the epoch of all processes after the same
//             step.
class StepLoop {
 public:
  // `options` are resolved; all arguments outlive the loop.
  StepLoop(const TrainOptions& options, BatchSource& batches,
           ModelTrainer& trainer, Communicator& processes)
      : options_(options),
        batches_(batches),
        trainer_(trainer),
        processes_(processes) {}

  // Takes the steps of `epoch`, counted from 1, that follow those of `sums`,
  // and adds to it. `after_step` runs between two steps. Returns Cancelled
  // after Ctrl-C, OutOfRange when the loss is not a number, ResourceExhausted
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
  Communicator& processes_;
  std::int64_t bytes_to_come_ = 0;
  int measured_steps_ = 0;
};

class EpochLoop {
 public:
  // What the loop works with; all outlive it.
  struct Inputs {
    const TrainOptions& options;  // resolved
    BatchSource& batches;
    const Validator& validator;
    TrainingLog* log;  // of the first process; null in the others
    const ReportContent& report;
    TrainingState& state;
    Workers workers;
  };
  explicit EpochLoop(const Inputs& inputs)
      : inputs_(inputs),
        steps_(inputs.options, inputs.batches, inputs.state.trainer(),
               inputs.workers.processes) {}

  // True after the last epoch; false when Ctrl-C ended it before, with at least
  // one finished epoch to publish. Fails as Train.
  absl::StatusOr<bool> Run();

 private:
  absl::Status HandleInterrupt();
  // Returns Cancelled when Ctrl-C ended it.
  absl::StatusOr<EpochRecord> RunEpoch();
  absl::Status MeasureBeforeTraining();
  absl::Status TakeSteps();
  absl::StatusOr<ValidationResult> Validate();
  void FinishEpoch(EpochRecord record);
  absl::Status CheckSameWeights(std::string_view when);

  RunHistory& history() { return inputs_.state.history(); }

  Inputs inputs_;
  StepLoop steps_;
  bool has_warned_of_loss_ = false;
  RunWarnings warnings_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_EPOCH_LOOP_H_
