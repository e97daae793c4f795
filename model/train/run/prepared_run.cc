#include "model/train/run/prepared_run.h"

#include <string>
#include <utility>

#include "model/base/status_macros.h"
#include "model/train/batches/make_batch_source.h"
#include "model/train/run/run_identity.h"
#include "model/train/run/trainer.h"
#include "model/train/validation/trained_model.h"

namespace semrank {
namespace {

absl::StatusOr<std::unique_ptr<Checkpoint>> MakeCheckpoint(
    const TrainOptions& options, const Featurizer& featurizer) {
  std::string identity;
  if (options.checkpoint.enabled()) {
    SEMRANK_ASSIGN_OR_RETURN(
        identity, DescribeRun(options, DescribeModel(options, featurizer)));
  }
  return std::make_unique<Checkpoint>(
      options.checkpoint, options.data.model_dir, std::move(identity));
}

}  // namespace

absl::Status PreparedRun::Prepare(const TrainOptions& options,
                                  const TrainingData& data,
                                  std::vector<FlagValue> flags,
                                  bool is_leader) {
  SEMRANK_RETURN_IF_ERROR(CheckMemory(options, data.featurizer.num_features()));
  SEMRANK_ASSIGN_OR_RETURN(batches_, MakeBatchSource(options, data));
  log_ = TrainingLog::None();
  if (is_leader) {
    SEMRANK_ASSIGN_OR_RETURN(log_, TrainingLog::Open(options.data.model_dir));
  }
  report_ = std::make_unique<TrainingReport>(
      ReportContent{.model_dir = options.data.model_dir,
                    .start = log_->run_start(),
                    .config = DescribeModel(options, data.featurizer),
                    .data = data.statistics,
                    .flags = std::move(flags),
                    .epochs = {}});
  SEMRANK_ASSIGN_OR_RETURN(checkpoint_,
                           MakeCheckpoint(options, data.featurizer));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<PreparedRun>> PreparedRun::Create(
    const TrainOptions& options, const TrainingData& data,
    std::unique_ptr<Validator> validator, std::vector<FlagValue> flags,
    Communicator& communicator) {
  // make_unique cannot reach the private constructor.
  std::unique_ptr<PreparedRun> prepared(new PreparedRun());
  prepared->validator_ = std::move(validator);
  SEMRANK_RETURN_IF_ERROR(
      Agree(communicator, prepared->Prepare(options, data, std::move(flags),
                                            communicator.is_leader())));
  prepared->run_ = std::make_unique<TrainingRun>(
      options, data, *prepared->batches_, *prepared->validator_,
      *prepared->log_, *prepared->report_, *prepared->checkpoint_,
      communicator);
  return prepared;
}

}  // namespace semrank
