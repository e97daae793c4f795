#include "model/train/loss_options.h"

#include "model/base/status_macros.h"
#include "model/train/option_checks.h"

namespace semrank {

absl::Status Resolve(LossOptions& loss) {
  const bool in_batch = loss.sampling == v1::NEGATIVE_SAMPLING_IN_BATCH;
  if (loss.negatives == -1) {
    loss.negatives = in_batch ? 0 : kDefaultUniformNegatives;
  }
  SEMRANK_RETURN_IF_ERROR(
      CheckRange("negatives", loss.negatives, in_batch ? 0 : 1, kMaxNegatives));
  // Beyond, the softmax of single precision is an argmax.
  return CheckPositive("gamma", loss.gamma, 1000);
}

}  // namespace semrank
