#include "model/train/run/run_inputs.h"

#include <string>
#include <utility>

#include "absl/time/time.h"
#include "model/base/fingerprint.h"
#include "model/base/status_macros.h"
#include "model/train/data/load_training_data.h"
#include "model/train/report/training_log.h"
#include "model/train/run/run_identity.h"
#include "model/train/validation/trained_model.h"
#include "model/train/validation/validator.h"

namespace semrank {
namespace {

// In the order in which mistakes are wanted to be told.
absl::Status Read(const TrainOptions& options, bool is_leader,
                  BadLines& bad_lines, RunInputs& inputs) {
  if (is_leader) {
    SEMRANK_RETURN_IF_ERROR(CheckWritable(options.data.model_dir));
    SEMRANK_ASSIGN_OR_RETURN(inputs.lock,
                             RunLock::Acquire(options.data.model_dir));
  }
  SEMRANK_ASSIGN_OR_RETURN(inputs.data, LoadTrainingData(options, bad_lines));
  SEMRANK_ASSIGN_OR_RETURN(inputs.queries,
                           Validator::ReadQueries(options.data, bad_lines));
  return absl::OkStatus();
}

}  // namespace

void LeaveToLeader(const Communicator& communicator, TrainOptions& options) {
  if (communicator.is_leader()) return;
  options.checkpoint = {.every = absl::ZeroDuration()};
  options.data.valid_pair_files.clear();
  options.data.valid_queries.clear();
  options.data.valid_halves = false;
}

absl::StatusOr<RunInputs> ReadInputs(const TrainOptions& options,
                                     Communicator& communicator,
                                     BadLines& bad_lines) {
  RunInputs inputs;
  SEMRANK_RETURN_IF_ERROR(
      Agree(communicator,
            Read(options, communicator.is_leader(), bad_lines, inputs)));
  return inputs;
}

absl::Status CheckSameRun(TrainOptions options, const TrainingData& data,
                          Communicator& communicator) {
  if (communicator.num_processes() == 1) return absl::OkStatus();
  options.data.valid_pair_files.clear();
  options.data.valid_queries.clear();
  options.data.valid_docs.clear();
  options.data.valid_qrels.clear();
  options.data.valid_halves = false;
  const absl::StatusOr<std::string> run =
      DescribeRun(options, DescribeModel(options, data.featurizer));
  SEMRANK_RETURN_IF_ERROR(Agree(communicator, run.status()));
  return CheckSame(communicator, BytesFingerprint(*run).lo,
                   "settings or training files");
}

}  // namespace semrank
