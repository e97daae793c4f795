// The epochs of one training run, and the publication of the best.
//
//   Threads  one thread calls; it makes the pool that does the work.
#ifndef SEMRANK_MODEL_TRAIN_RUN_TRAINING_RUN_H_
#define SEMRANK_MODEL_TRAIN_RUN_TRAINING_RUN_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/base/thread_pool.h"
#include "model/train/batches/batch_source.h"
#include "model/train/data/training_data.h"
#include "model/train/distributed/communicator.h"
#include "model/train/optimizer/learning_rate_schedule.h"
#include "model/train/report/run_progress.h"
#include "model/train/report/training_log.h"
#include "model/train/report/training_report.h"
#include "model/train/run/checkpoint.h"
#include "model/train/run/tensor_copies.h"
#include "model/train/run/trainer.h"
#include "model/train/towers/model_trainer.h"
#include "model/train/validation/early_stopping.h"
#include "model/train/validation/validator.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

class TrainingRun {
 public:
  // `options` are resolved. All arguments outlive the run.
  TrainingRun(const TrainOptions& options, const TrainingData& data,
              BatchSource& batches, const Validator& validator,
              TrainingLog& log, TrainingReport& report, Checkpoint& checkpoint,
              Communicator& communicator = OneProcess());

  // Until the last epoch, early stopping or Ctrl-C. Fails as Train.
  absl::Status RunEpochs();
  // After RunEpochs: writes the best weights as the next version.
  absl::StatusOr<TrainingSummary> Publish();
  // In place of Publish, when the measures were all that was wanted.
  void EndWithoutModel();

  // The finished ones, in order.
  const std::vector<EpochRecord>& epochs() const { return progress_.epochs; }

 private:
  absl::StatusOr<TrainingSummary> PublishBest();
  absl::StatusOr<std::int64_t> PublishOnce();
  // On standard error, if it is no success: once, until it succeeds again.
  void Tell(const std::string& what, const absl::Status& status);
  absl::Status Begin();
  absl::Status Resume();
  absl::Status TakeLeadersState();
  absl::Status Interrupt();
  void WriteCheckpoint();
  // Steps taken so far, over all epochs.
  std::int64_t NumSteps() const;
  LearningRateSchedule Schedule() const;

  // Both Cancelled when they did not come to their end.
  absl::StatusOr<EpochRecord> RunEpoch();
  absl::Status TrainOnAllPairs();
  absl::Status TakeStep(const MiniBatch& batch, const StepContext& step);
  bool Judge(const EpochRecord& record);
  void FinishEpoch(EpochRecord record);
  absl::Status Validate(ValidationResult& result);
  absl::StatusOr<const MiniBatch*> NextBatch();
  absl::Status CheckSameWeights(std::string_view when);

  const TrainOptions& options_;
  const TrainingData& data_;
  BatchSource& batches_;
  const Validator& validator_;
  TrainingLog& log_;
  TrainingReport& report_;
  Checkpoint& checkpoint_;
  Communicator& communicator_;
  v1::ModelConfig config_;
  ThreadPool pool_;
  std::unique_ptr<ModelTrainer> trainer_;
  EarlyStopping stopping_;
  RunProgress progress_;
  bool finished_ = false;
  bool resumed_ = false;
  std::set<std::string> told_;
  EpochRecord best_;
  TensorCopies best_weights_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_TRAINING_RUN_H_
