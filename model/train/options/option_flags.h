// The flags of a training run: their names, ranges and help texts, bound to
// TrainOptions.
#ifndef SEMRANK_MODEL_TRAIN_OPTIONS_OPTION_FLAGS_H_
#define SEMRANK_MODEL_TRAIN_OPTIONS_OPTION_FLAGS_H_

#include <string>
#include <string_view>
#include <vector>

#include "model/cli/command_line.h"
#include "model/train/options/train_options.h"

namespace semrank {

// Binds the flags of `options` in the order of the help text; ranges are
// checked as values are read.
void AddTrainOptions(CommandLine& flags, TrainOptions& options);

// What decides the value of a flag that is left to the training data, and how:
// "10 when the training pairs have ..."; "" for other flags and values.
std::string DescribeChoiceOfData(std::string_view flag,
                                 const TrainOptions& options);

// The value of every flag, as a command line would give it. `options` with the
// same values are equal but for the model of --init_from.
std::vector<FlagValue> OptionValues(TrainOptions options);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_OPTIONS_OPTION_FLAGS_H_
