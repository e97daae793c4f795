// The flags of a training run: their names, ranges and help texts, bound to
// TrainOptions.
#ifndef SEMRANK_MODEL_TRAIN_OPTIONS_OPTION_FLAGS_H_
#define SEMRANK_MODEL_TRAIN_OPTIONS_OPTION_FLAGS_H_

#include <vector>

#include "model/cli/command_line.h"
#include "model/train/options/train_options.h"

namespace semrank {

// Binds the flags of `options` in the order of the help text; ranges are
// checked as values are read.
void AddTrainOptions(CommandLine& command_line, TrainOptions& options);

// The value of every flag, as a command line would give it. `options` with the
// same values are equal but for the model of --init_from.
std::vector<FlagValue> OptionValues(TrainOptions options);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_OPTIONS_OPTION_FLAGS_H_
