#include <string>

#include "absl/flags/flag.h"
#include "model/base/status_macros.h"
#include "model/cli/settable_flag.h"
#include "model/train/options/flag_groups.h"
#include "model/train/options/option_names.h"

namespace {

using Text = semrank::Settable<std::string>;
using Int = semrank::Settable<int>;
using Double = semrank::Settable<double>;

// Defaults are those of the options struct, which has no other home for them.
semrank::OptimizerOptions Defaults() { return {}; }

}  // namespace

ABSL_FLAG(Text, optimizer, Text{"adam"},
          "What moves the weights: sgd, adagrad (each weight's steps grow "
          "shorter the more it has moved) or adam.");
ABSL_FLAG(Double, learning_rate, Double{Defaults().learning_rate},
          "Step size. The loss is the mean over the mini-batch, so sgd wants a "
          "hundred times adam's and more, adagrad ten times.");
ABSL_FLAG(Double, gradient_clip_norm, Double{Defaults().gradient_clip_norm},
          "Scales the gradient of a step, all weights together, down to this "
          "length if it is longer. 0 = never.");
ABSL_FLAG(Int, warmup_batches, Int{Defaults().warmup_batches},
          "Mini-batches over which the learning rate rises from 0 in a "
          "straight line.");
ABSL_FLAG(Text, learning_rate_decay, Text{"none"},
          "The learning rate after the warm-up: none (it stays) or linear (it "
          "falls to 0 at the end of the last of --epochs, also when --patience "
          "ends the run before).");

namespace semrank {

absl::Status ReadFlags(OptimizerOptions& options) {
  SEMRANK_RETURN_IF_ERROR(
      ReadName(absl::GetFlag(FLAGS_optimizer), options.kind));
  absl::GetFlag(FLAGS_learning_rate).CopyIfSet(options.learning_rate);
  absl::GetFlag(FLAGS_gradient_clip_norm).CopyIfSet(options.gradient_clip_norm);
  absl::GetFlag(FLAGS_warmup_batches).CopyIfSet(options.warmup_batches);
  SEMRANK_RETURN_IF_ERROR(
      ReadName(absl::GetFlag(FLAGS_learning_rate_decay), options.decay));
  return absl::OkStatus();
}

}  // namespace semrank
