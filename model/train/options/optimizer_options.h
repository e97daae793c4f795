// What moves the weights.
#ifndef SEMRANK_MODEL_TRAIN_OPTIONS_OPTIMIZER_OPTIONS_H_
#define SEMRANK_MODEL_TRAIN_OPTIONS_OPTIMIZER_OPTIONS_H_

#include "semrank/v1/model_config.pb.h"

namespace semrank {

class CommandLine;

struct OptimizerOptions {
  v1::Optimizer kind = v1::OPTIMIZER_ADAM;
  double learning_rate = 0.001;
  // Longest gradient of a step, all weights together; 0 = any.
  double gradient_clip_norm = 0;
  // Mini-batches over which the rate rises from 0; 0 = none.
  int warmup_batches = 0;
  v1::LearningRateDecay decay = v1::LEARNING_RATE_DECAY_NONE;
};

void AddOptimizerOptions(CommandLine& command_line, OptimizerOptions& options);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_OPTIONS_OPTIMIZER_OPTIONS_H_
