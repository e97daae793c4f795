#include "model/train/run/trainer.h"

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/bad_lines.h"
#include "model/base/status_macros.h"
#include "model/train/data/memory_budget.h"
#include "model/train/data/training_data.h"
#include "model/train/report/training_log.h"
#include "model/train/run/prepared_run.h"
#include "model/train/run/run_inputs.h"
#include "model/train/run/unused_flags.h"
#include "model/train/validation/trained_model.h"
#include "model/train/validation/validator.h"

namespace semrank {

absl::Status CheckMemory(const TrainOptions& options, int num_features) {
  SEMRANK_ASSIGN_OR_RETURN(const std::int64_t bytes,
                           ModelBytes(options, num_features));
  const auto needed = static_cast<double>(bytes);
  const auto present = static_cast<double>(PhysicalMemory());
  if (needed <= present) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrFormat(
      "the weights of %d features and their training need %.1f GiB; this "
      "machine has %.1f GiB. Smaller: %s",
      num_features, needed / (1 << 30), present / (1 << 30),
      ModelSizeFlags(options.tower)));
}

std::string FormatSummaryJson(const TrainingSummary& summary) {
  const nlohmann::ordered_json json = {
      {"version_dir", summary.version_dir},
      {"version", summary.version},
      {"epochs_run", summary.epochs_run},
      {"best_epoch", EpochMeasures(summary.best)}};
  return json.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/false,
                   nlohmann::json::error_handler_t::replace) +
         "\n";
}

absl::StatusOr<TrainingSummary> Train(TrainOptions options,
                                      std::vector<FlagValue> flags,
                                      Communicator& communicator) {
  SEMRANK_RETURN_IF_ERROR(Agree(communicator, ResolveOptions(options)));
  for (const std::string& line : DescribeUnusedFlags(options, flags)) {
    absl::FPrintF(stderr, "%s\n", line);
  }
  LeaveToLeader(communicator, options);
  BadLines bad_lines(options.data.max_bad_lines);
  SEMRANK_ASSIGN_OR_RETURN(RunInputs inputs,
                           ReadInputs(options, communicator, bad_lines));
  const TrainingData& data = *inputs.data;
  SEMRANK_RETURN_IF_ERROR(CheckSameRun(options, data, communicator));
  absl::StatusOr<std::unique_ptr<Validator>> validator =
      Validator::Create(options, data, std::move(inputs.queries));
  SEMRANK_RETURN_IF_ERROR(Agree(communicator, validator.status()));
  SEMRANK_ASSIGN_OR_RETURN(
      const std::unique_ptr<PreparedRun> prepared,
      PreparedRun::Create(options, data, *std::move(validator),
                          std::move(flags), communicator));
  SEMRANK_RETURN_IF_ERROR(prepared->run().RunEpochs());
  return prepared->run().Publish();
}

}  // namespace semrank
