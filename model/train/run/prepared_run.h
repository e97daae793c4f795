// A training run with everything that belongs to it alone: its mini-batches,
// log, report and checkpoint. Runs that share data share it in memory.
//
//   Threads  one thread.
#ifndef SEMRANK_MODEL_TRAIN_RUN_PREPARED_RUN_H_
#define SEMRANK_MODEL_TRAIN_RUN_PREPARED_RUN_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/train/batches/batch_source.h"
#include "model/train/distributed/communicator.h"
#include "model/train/report/training_log.h"
#include "model/train/report/training_report.h"
#include "model/train/run/checkpoint.h"
#include "model/train/run/training_run.h"
#include "model/train/validation/validator.h"

namespace semrank {

class PreparedRun {
 public:
  // `options` are resolved; they and `data` outlive the run. `flags` are for
  // the report. Several processes call it alike. Fails as Train.
  static absl::StatusOr<std::unique_ptr<PreparedRun>> Create(
      const TrainOptions& options, const TrainingData& data,
      std::unique_ptr<Validator> validator, std::vector<FlagValue> flags,
      Communicator& communicator = OneProcess());

  TrainingRun& run() { return *run_; }

 private:
  PreparedRun() = default;

  // What this process needs for itself.
  absl::Status Prepare(const TrainOptions& options, const TrainingData& data,
                       std::vector<FlagValue> flags, bool is_leader);

  std::unique_ptr<Validator> validator_;
  std::unique_ptr<BatchSource> batches_;
  std::unique_ptr<TrainingLog> log_;
  std::unique_ptr<TrainingReport> report_;
  std::unique_ptr<Checkpoint> checkpoint_;
  std::unique_ptr<TrainingRun> run_;  // points to the others
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_PREPARED_RUN_H_
