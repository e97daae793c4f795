// The flags of semrank-train, and the one step from them to what a run does.
#ifndef SEMRANK_MODEL_TRAIN_TRAIN_FLAGS_H_
#define SEMRANK_MODEL_TRAIN_TRAIN_FLAGS_H_

#include <string>
#include <vector>

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

// Flags without effect beside others: those of another tower, loss or kind of
// feature. They are reported and not refused, so that one list of flags (a
// configuration file, a script) can serve several towers. A line for each of
// `flags`, which were given, that resolved `options` make no use of:
// "--hidden=300,300 has no effect with --tower=linear".
std::vector<std::string> DescribeUnusedFlags(
    const TrainOptions& options, const std::vector<FlagValue>& flags);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_TRAIN_FLAGS_H_
