#include "model/train/options/optimizer_options.h"

#include <limits>

#include "model/base/status_macros.h"
#include "model/train/options/option_checks.h"

namespace semrank {

absl::Status Resolve(OptimizerOptions& optimizer) {
  SEMRANK_RETURN_IF_ERROR(CheckRange("warmup_batches", optimizer.warmup_batches,
                                     0, std::numeric_limits<int>::max()));
  if (optimizer.gradient_clip_norm != 0) {
    SEMRANK_RETURN_IF_ERROR(CheckPositive("gradient_clip_norm",
                                          optimizer.gradient_clip_norm,
                                          std::numeric_limits<float>::max()));
  }
  return CheckPositive("learning_rate", optimizer.learning_rate,
                       std::numeric_limits<float>::max());
}

}  // namespace semrank
