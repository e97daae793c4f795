#include "model/train/optimizer_options.h"

#include <limits>

#include "model/base/program.h"
#include "model/train/option_checks.h"

namespace semrank {

absl::Status Resolve(OptimizerOptions& optimizer) {
  if (optimizer.kind == v1::OPTIMIZER_ADAGRAD) {
    return FlagError("optimizer", "adagrad",
                     "not available yet; this version has sgd, adam");
  }
  return CheckPositive("learning_rate", optimizer.learning_rate,
                       std::numeric_limits<float>::max());
}

}  // namespace semrank
