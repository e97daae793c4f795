// The last step from flags to what a training run does: "auto" values become
// what they stand for, and values are checked against each other.
#ifndef SEMRANK_MODEL_TRAIN_OPTIONS_RESOLVE_OPTIONS_H_
#define SEMRANK_MODEL_TRAIN_OPTIONS_RESOLVE_OPTIONS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "model/cli/command_line.h"
#include "model/train/options/train_options.h"

namespace semrank {

// FlagError unless there are pairs or documents to read and a folder for the
// model.
absl::Status CheckFilesAreNamed(const DataOptions& data);

// Replaces -1, kAuto and UNSPECIFIED by what they stand for, and clears what
// the tower has no use for. FlagError naming the flag, the value and the limit.
// Resolved options stay as they are when they are resolved again.
absl::Status ResolveOptions(TrainOptions& options);

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

#endif  // SEMRANK_MODEL_TRAIN_OPTIONS_RESOLVE_OPTIONS_H_
