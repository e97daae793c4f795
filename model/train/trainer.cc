#include "model/train/trainer.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "model/base/bad_lines.h"
#include "model/base/program.h"
#include "model/base/status_macros.h"
#include "model/train/batch_source.h"
#include "model/train/checkpoint.h"
#include "model/train/memory_budget.h"
#include "model/train/parameter_optimizer.h"
#include "model/train/run_identity.h"
#include "model/train/tensor_fingerprint.h"
#include "model/train/trained_model.h"
#include "model/train/training_data.h"
#include "model/train/training_log.h"
#include "model/train/training_run.h"
#include "model/train/validator.h"

namespace semrank {
namespace {

// Weights, their best epoch and the optimizer's state against the machine.
absl::Status CheckMemory(const TrainOptions& options, int num_features) {
  std::int64_t bytes = 0;
  if (options.tower.kind == v1::TOWER_KIND_SSI) {
    SEMRANK_ASSIGN_OR_RETURN(const std::int64_t parameters,
                             NumSsiParameters(options, num_features));
    bytes = parameters * std::int64_t{sizeof(float)} *
            (2 + OptimizerStateSize(options.optimizer.kind));
  } else {
    bytes = ModelBytes(options, num_features);
  }
  const auto needed = static_cast<double>(bytes);
  const auto present = static_cast<double>(PhysicalMemory());
  if (needed <= present) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrFormat(
      "the weights of %d features and their training need %.1f GiB; this "
      "machine has %.1f GiB. Smaller: --hash_buckets, --hidden, "
      "--shared_towers, --optimizer=sgd",
      num_features, needed / (1 << 30), present / (1 << 30)));
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

// What several processes cannot do, and what only the leader does.
absl::Status ResolveForProcess(const Communicator& communicator,
                               TrainOptions& options) {
  SEMRANK_RETURN_IF_ERROR(ResolveOptions(options));
  if (communicator.num_processes() == 1) return absl::OkStatus();
  if (options.tower.kind == v1::TOWER_KIND_SSI) {
    return FlagError("tower", "ssi",
                     "is trained by one process only; start without mpirun");
  }
  if (options.checkpoint.resume) {
    return FlagError("resume", "true",
                     "goes on in one process only; start without mpirun");
  }
  if (communicator.is_leader()) return absl::OkStatus();
  options.checkpoint = {.every = absl::ZeroDuration()};
  options.data.valid_pair_files.clear();
  options.data.valid_queries.clear();
  return absl::OkStatus();
}

// What comes from files, in the order in which it is read.
struct Inputs {
  std::unique_ptr<TrainingLog> log;
  std::optional<TrainingData> data;
  std::unique_ptr<Validator> validator;
  std::unique_ptr<BatchSource> batches;
};

absl::Status ReadInputs(const TrainOptions& options, bool is_leader,
                        BadLines& bad_lines, Inputs& inputs) {
  inputs.log = TrainingLog::None();
  if (is_leader) {
    SEMRANK_ASSIGN_OR_RETURN(inputs.log,
                             TrainingLog::Open(options.data.model_dir));
  }
  SEMRANK_ASSIGN_OR_RETURN(inputs.data, LoadTrainingData(options, bad_lines));
  SEMRANK_RETURN_IF_ERROR(
      CheckMemory(options, inputs.data->featurizer.num_features()));
  SEMRANK_ASSIGN_OR_RETURN(inputs.validator,
                           Validator::Create(options, *inputs.data, bad_lines));
  SEMRANK_ASSIGN_OR_RETURN(inputs.batches,
                           MakeBatchSource(options, *inputs.data));
  return absl::OkStatus();
}

// The same settings and the same files, or the processes would wait for each
// other in different places.
absl::Status CheckSameRun(TrainOptions options, const TrainingData& data,
                          Communicator& communicator) {
  if (communicator.num_processes() == 1) return absl::OkStatus();
  options.data.valid_pair_files.clear();
  options.data.valid_queries.clear();
  options.data.valid_docs.clear();
  options.data.valid_qrels.clear();
  const absl::StatusOr<std::string> run =
      DescribeRun(options, DescribeModel(options, data.featurizer));
  SEMRANK_RETURN_IF_ERROR(Agree(communicator, run.status()));
  return CheckSame(communicator, TextFingerprint(*run),
                   "settings or training files");
}

}  // namespace

absl::StatusOr<TrainingSummary> Train(TrainOptions options,
                                      std::vector<FlagValue> flags,
                                      Communicator& communicator) {
  SEMRANK_RETURN_IF_ERROR(
      Agree(communicator, ResolveForProcess(communicator, options)));
  BadLines bad_lines(options.data.max_bad_lines);
  Inputs inputs;
  SEMRANK_RETURN_IF_ERROR(
      Agree(communicator,
            ReadInputs(options, communicator.is_leader(), bad_lines, inputs)));
  const TrainingData& data = *inputs.data;
  SEMRANK_RETURN_IF_ERROR(CheckSameRun(options, data, communicator));
  TrainingReport report({.model_dir = options.data.model_dir,
                         .start = inputs.log->run_start(),
                         .config = DescribeModel(options, data.featurizer),
                         .data = data.statistics,
                         .flags = std::move(flags),
                         .epochs = {}});
  absl::StatusOr<Checkpoint> checkpoint =
      MakeCheckpoint(options, data.featurizer);
  SEMRANK_RETURN_IF_ERROR(Agree(communicator, checkpoint.status()));
  TrainingRun run(options, data, *inputs.batches, *inputs.validator,
                  *inputs.log, report, *checkpoint, communicator);
  SEMRANK_RETURN_IF_ERROR(run.RunEpochs());
  return run.Publish();
}

}  // namespace semrank
