// The flags of semrank-train, and the one step from them to what a run does.
#ifndef SEMRANK_MODEL_TRAIN_RUN_TRAIN_FLAGS_H_
#define SEMRANK_MODEL_TRAIN_RUN_TRAIN_FLAGS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/cli/command_line.h"
#include "model/train/options/train_options.h"

namespace semrank {

struct TrainFlags {
  std::string preset;     // empty = none
  std::string init_from;  // empty = none
  bool prints_json = false;
  bool prints_options = false;
  TrainOptions options;
};

void AddTrainFlags(CommandLine& command_line, TrainFlags& flags);

// After `command_line` was parsed: makes flags.options explicit. Flags that
// were given win over the model of --init_from, that over the recipe of
// --preset or of the tower, and that over the defaults of TrainOptions; then
// ResolveOptions. FlagError for a preset that is not known, for flags that
// contradict the model or each other, and without pairs or a model directory.
absl::Status ResolveFlags(CommandLine& command_line, TrainFlags& flags);

// The text of --print_options: resolves the options as ResolveFlags, also
// without pairs and model directory, and writes a line for each flag: its name,
// the value, and in a comment where the value comes from. Lines of flags
// without effect are comments. The text is a file for --config.
absl::StatusOr<std::string> DescribeOptions(CommandLine& command_line,
                                            TrainFlags& flags);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_TRAIN_FLAGS_H_
