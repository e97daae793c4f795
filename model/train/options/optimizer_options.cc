#include "model/train/options/optimizer_options.h"

#include "model/cli/command_line.h"

namespace semrank {
namespace {

// Weights are in single precision.
constexpr double kMaxFloat = 3.4e38;

}  // namespace

void AddOptimizerOptions(CommandLine& command_line, OptimizerOptions& options) {
  command_line.Group("Optimizer");
  command_line.Add("optimizer", &options.kind,
                   "sgd, adagrad (the more a weight has moved, the shorter are "
                   "its steps) or adam.",
                   {{"sgd", v1::OPTIMIZER_SGD},
                    {"adagrad", v1::OPTIMIZER_ADAGRAD},
                    {"adam", v1::OPTIMIZER_ADAM}});
  command_line.Add("learning_rate", &options.learning_rate,
                   "Step size. The loss is the mean over the mini-batch, so "
                   "sgd needs a hundred times adam's and more, adagrad ten "
                   "times.",
                   {.min = 0, .max = kMaxFloat, .above_min = true});
  command_line.Group("Optimizer", CommandLine::Level::kAdvanced);
  command_line.Add("learning_rate_decay", &options.decay,
                   "Learning rate after the warm-up: none (constant), linear "
                   "(to 0 at the end of the last of --epochs, also when "
                   "--patience ends the run before) or cosine (along half a "
                   "wave, to 2 % of the rate).",
                   {{"none", v1::LEARNING_RATE_DECAY_NONE},
                    {"linear", v1::LEARNING_RATE_DECAY_LINEAR},
                    {"cosine", v1::LEARNING_RATE_DECAY_COSINE}});
  command_line.Add("warmup_batches", &options.warmup_batches,
                   "Mini-batches over which the learning rate rises linearly "
                   "from 0.",
                   {.min = 0});
  command_line.Add("gradient_clip_norm", &options.gradient_clip_norm,
                   "Largest norm of a step's gradient, over all weights; a "
                   "longer gradient is scaled down to it. 0 = no limit.",
                   {.min = 0, .max = kMaxFloat});
}

}  // namespace semrank
