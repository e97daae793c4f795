#include "model/train/optimizer_options.h"

#include <limits>

#include "model/base/status_macros.h"
#include "model/train/option_checks.h"

namespace semrank {

absl::Status Resolve(OptimizerOptions& optimizer) {
  SEMRANK_RETURN_IF_ERROR(CheckRange("warmup_batches", optimizer.warmup_batches,
                                     0, std::numeric_limits<int>::max()));
  return CheckPositive("learning_rate", optimizer.learning_rate,
                       std::numeric_limits<float>::max());
}

}  // namespace semrank
