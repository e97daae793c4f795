// The epochs of one training run: mini-batch after mini-batch, validation after
// each epoch, until the last one, early stopping or Ctrl-C.
//
//   Threads  one thread calls; the work is done by the pool.
#ifndef SEMRANK_MODEL_TRAIN_RUN_EPOCH_LOOP_H_
#define SEMRANK_MODEL_TRAIN_RUN_EPOCH_LOOP_H_

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/base/thread_pool.h"
#include "model/train/batches/batch_source.h"
#include "model/train/distributed/communicator.h"
#include "model/train/options/train_options.h"
#include "model/train/report/training_log.h"
#include "model/train/report/training_report.h"
#include "model/train/run/run_warnings.h"
#include "model/train/run/step_loop.h"
#include "model/train/run/training_state.h"
#include "model/train/validation/validator.h"

namespace semrank {

class EpochLoop {
 public:
  // What the loop works with; all outlive it.
  struct Inputs {
    const TrainOptions& options;  // resolved
    BatchSource& batches;
    const Validator& validator;
    TrainingLog* log;  // written by rank 0; null on the others
    const ReportContent& report;
    TrainingState& state;
    ThreadPool& pool;
    Communicator& communicator;
  };
  explicit EpochLoop(const Inputs& inputs)
      : inputs_(inputs),
        steps_(inputs.options, inputs.batches, inputs.state.trainer(),
               inputs.communicator) {}

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

  RunProgress& progress() { return inputs_.state.progress(); }

  Inputs inputs_;
  StepLoop steps_;
  bool has_warned_of_loss_ = false;
  RunWarnings warnings_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_EPOCH_LOOP_H_
