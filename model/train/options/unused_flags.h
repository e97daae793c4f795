// Flags of a training run that have no effect beside others.
#ifndef SEMRANK_MODEL_TRAIN_OPTIONS_UNUSED_FLAGS_H_
#define SEMRANK_MODEL_TRAIN_OPTIONS_UNUSED_FLAGS_H_

#include <string>
#include <string_view>
#include <vector>

#include "model/cli/command_line.h"
#include "model/train/options/train_options.h"

namespace semrank {

// The flag that makes `flag` meaningless, as in "tower=linear"; "" if resolved
// `options` use it.
std::string WhatMakesUnused(std::string_view flag, const TrainOptions& options);

// Flags without effect beside others: those of another tower, loss or kind of
// feature. They are reported and not refused, so that one list of flags (a
// configuration file, a script) can serve several towers. A line for each of
// `flags`, which were given, that resolved `options` make no use of:
// "--hidden=300,300 has no effect with --tower=linear".
std::vector<std::string> DescribeUnusedFlags(
    const TrainOptions& options, const std::vector<FlagValue>& flags);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_OPTIONS_UNUSED_FLAGS_H_
