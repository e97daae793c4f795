// The flags of semrank-train.
#ifndef SEMRANK_MODEL_TRAIN_TRAIN_FLAGS_H_
#define SEMRANK_MODEL_TRAIN_TRAIN_FLAGS_H_

#include <string>

#include "absl/status/status.h"
#include "model/cli/command_line.h"
#include "model/train/options/train_options.h"

namespace semrank {

struct TrainFlags {
  TrainFlags();

  std::string preset;     // empty = none
  std::string init_from;  // empty = none
  bool prints_json = false;
  TrainOptions options;
};

void AddTrainFlags(CommandLine& command_line, TrainFlags& flags);

// After `command_line` was parsed: replaces the defaults by those of --preset,
// --init_from or the kind of tower, under the flags that were given. FlagError
// for a preset that is not known and for flags that contradict the model of
// --init_from.
absl::Status ChooseDefaults(CommandLine& command_line, TrainFlags& flags);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_TRAIN_FLAGS_H_
