// The history of a training run: everything in a checkpoint except weights and
// optimizer state.
#ifndef SEMRANK_MODEL_TRAIN_REPORT_RUN_HISTORY_H_
#define SEMRANK_MODEL_TRAIN_REPORT_RUN_HISTORY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "model/train/report/training_log.h"
#include "model/train/validation/ranker_comparison.h"

namespace semrank {

// The mini-batches of an unfinished epoch so far.
struct EpochSums {
  std::int64_t num_batches = 0;
  std::int64_t num_pairs = 0;
  double loss = 0;  // each pair's, times its weight
  double weight = 0;
  double gradient_norm = 0;
  double seconds = 0;
};

struct RunHistory {
  absl::Time start;
  // The weight of the model's lexical part; 0 = none, or not fitted yet.
  double lexical_weight = 0;
  // Whether the finished run was not published (RefuseLoss). The checkpoint of
  // such a run is removed by the next one that is.
  bool refused = false;
  // The trial's; none without one.
  std::optional<RankerComparison> comparison = std::nullopt;
  // Validation of the weights that the run began from; none without validation.
  std::optional<ValidationResult> before_training = std::nullopt;
  // Finished epochs, in order.
  std::vector<EpochRecord> epochs;

  EpochSums current;

  // The first epoch is 1.
  int epoch() const { return static_cast<int>(epochs.size()) + 1; }
  // Appends `record` and begins the next epoch.
  void FinishEpoch(const EpochRecord& record);
};

// As JSON, every number to its last bit.
std::string FormatHistory(RunHistory history);
// InvalidArgument for text that FormatHistory cannot have made.
absl::StatusOr<RunHistory> ParseHistory(std::string_view text);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_REPORT_RUN_HISTORY_H_
