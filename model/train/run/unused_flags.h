// Flags without effect beside others: those of another tower, loss or kind of
// feature. They are reported and not refused, so that one list of flags (a
// configuration file, a script) can serve several towers.
#ifndef SEMRANK_MODEL_TRAIN_RUN_UNUSED_FLAGS_H_
#define SEMRANK_MODEL_TRAIN_RUN_UNUSED_FLAGS_H_

#include <string>
#include <vector>

#include "model/train/options/train_options.h"
#include "model/train/report/training_report.h"

namespace semrank {

// A line for each of `flags`, which were set, that `options` make no use of:
// "--hidden=300,300 has no effect with --tower=linear". `options` are resolved.
std::vector<std::string> DescribeUnusedFlags(
    const TrainOptions& options, const std::vector<FlagValue>& flags);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_UNUSED_FLAGS_H_
