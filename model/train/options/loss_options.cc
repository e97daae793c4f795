#include "model/train/options/loss_options.h"

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/cli/program.h"
#include "model/train/options/option_checks.h"

namespace semrank {

bool UsesShownTitles(const LossOptions& options) {
  return options.sampling == v1::NEGATIVE_SAMPLING_SHOWN_NOT_CLICKED ||
         options.hard_negatives > 0;
}

bool DrawsTitles(const LossOptions& options) {
  return options.sampling != v1::NEGATIVE_SAMPLING_IN_BATCH;
}

absl::Status Resolve(LossOptions& loss) {
  const bool in_batch = loss.sampling == v1::NEGATIVE_SAMPLING_IN_BATCH;
  if (loss.negatives == -1) {
    loss.negatives = in_batch ? 0 : kDefaultNegatives;
  }
  SEMRANK_RETURN_IF_ERROR(
      CheckRange("negatives", loss.negatives, in_batch ? 0 : 1, kMaxNegatives));
  SEMRANK_RETURN_IF_ERROR(
      CheckRange("hard_negatives", loss.hard_negatives, 0, kMaxNegatives));
  if (loss.hard_negatives > 0 && !in_batch) {
    return FlagError("hard_negatives",
                     absl::StrFormat("%d", loss.hard_negatives),
                     "they stand beside those of "
                     "--negative_sampling=in_batch; with shown, --negatives "
                     "says how many there are");
  }
  SEMRANK_RETURN_IF_ERROR(CheckPositive("margin", loss.margin, 1000));
  // Beyond, the softmax of single precision is an argmax.
  return CheckPositive("gamma", loss.gamma, 1000);
}

}  // namespace semrank
