#include <string>

#include "absl/flags/flag.h"
#include "model/base/settable_flag.h"
#include "model/base/status_macros.h"
#include "model/train/flag_groups.h"
#include "model/train/option_names.h"

namespace {

using Text = semrank::Settable<std::string>;
using Double = semrank::Settable<double>;

// Defaults are those of the options struct, which has no other home for them.
semrank::OptimizerOptions Defaults() { return {}; }

}  // namespace

ABSL_FLAG(Text, optimizer, Text{"adam"},
          "What moves the weights: sgd or adam. adagrad is not available yet.");
ABSL_FLAG(Double, learning_rate, Double{Defaults().learning_rate},
          "Step size. The loss is the mean over the mini-batch, so sgd wants a "
          "hundred times adam's and more.");

namespace semrank {

absl::Status ReadFlags(OptimizerOptions& options) {
  SEMRANK_RETURN_IF_ERROR(
      ReadName(absl::GetFlag(FLAGS_optimizer), options.kind));
  absl::GetFlag(FLAGS_learning_rate).CopyIfSet(options.learning_rate);
  return absl::OkStatus();
}

}  // namespace semrank
