#include "model/train/trainer.h"

#include <unistd.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "model/base/bad_lines.h"
#include "model/base/status_macros.h"
#include "model/train/batch_source.h"
#include "model/train/checkpoint.h"
#include "model/train/parameter_optimizer.h"
#include "model/train/run_identity.h"
#include "model/train/tower_weights.h"
#include "model/train/trained_model.h"
#include "model/train/training_data.h"
#include "model/train/training_log.h"
#include "model/train/training_run.h"
#include "model/train/validator.h"

namespace semrank {
namespace {

// Weights, their best epoch and the optimizer's state against the machine.
absl::Status CheckMemory(const TrainOptions& options, int num_features) {
  std::int64_t parameters =
      NumParameters(TowerWidths(options.tower, num_features)) *
      (options.tower.shared ? 1 : 2);
  if (options.tower.kind == v1::TOWER_KIND_SSI) {
    SEMRANK_ASSIGN_OR_RETURN(parameters,
                             NumSsiParameters(options, num_features));
  }
  const double needed = 4.0 * static_cast<double>(parameters) *
                        (2 + OptimizerStateSize(options.optimizer.kind));
  const double present = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                         static_cast<double>(sysconf(_SC_PAGESIZE));
  if (needed <= present) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrFormat(
      "%d parameters (%d features) and their training need %.1f GiB; this "
      "machine has %.1f GiB. Smaller: --hash_buckets, --hidden, "
      "--shared_towers, --optimizer=sgd",
      parameters, num_features, needed / (1 << 30), present / (1 << 30)));
}

absl::StatusOr<Checkpoint> MakeCheckpoint(const TrainOptions& options,
                                          const Featurizer& featurizer) {
  std::string identity;
  if (options.checkpoint.enabled()) {
    SEMRANK_ASSIGN_OR_RETURN(
        identity, DescribeRun(options, DescribeModel(options, featurizer)));
  }
  return Checkpoint(options.checkpoint, options.data.model_dir,
                    std::move(identity));
}

}  // namespace

absl::StatusOr<TrainingSummary> Train(TrainOptions options,
                                      std::vector<FlagValue> flags) {
  SEMRANK_RETURN_IF_ERROR(ResolveOptions(options));
  SEMRANK_ASSIGN_OR_RETURN(const std::unique_ptr<TrainingLog> log,
                           TrainingLog::Open(options.data.model_dir));
  BadLines bad_lines(options.data.max_bad_lines);
  SEMRANK_ASSIGN_OR_RETURN(const TrainingData data,
                           LoadTrainingData(options, bad_lines));
  SEMRANK_RETURN_IF_ERROR(CheckMemory(options, data.featurizer.num_features()));
  SEMRANK_ASSIGN_OR_RETURN(const std::unique_ptr<Validator> validator,
                           Validator::Create(options, data, bad_lines));
  SEMRANK_ASSIGN_OR_RETURN(const std::unique_ptr<BatchSource> batches,
                           MakeBatchSource(options, data));
  TrainingReport report({.model_dir = options.data.model_dir,
                         .start = log->run_start(),
                         .config = DescribeModel(options, data.featurizer),
                         .data = data.statistics,
                         .flags = std::move(flags),
                         .epochs = {}});
  SEMRANK_ASSIGN_OR_RETURN(Checkpoint checkpoint,
                           MakeCheckpoint(options, data.featurizer));
  TrainingRun run(options, data, *batches, *validator, *log, report,
                  checkpoint);
  SEMRANK_RETURN_IF_ERROR(run.RunEpochs());
  return run.Publish();
}

}  // namespace semrank
