// The last step from flags to what a training run does: "auto" values become
// what they stand for, and values are checked against each other.
#ifndef SEMRANK_MODEL_TRAIN_OPTIONS_RESOLVE_OPTIONS_H_
#define SEMRANK_MODEL_TRAIN_OPTIONS_RESOLVE_OPTIONS_H_

#include "absl/status/status.h"
#include "model/train/options/train_options.h"

namespace semrank {

// FlagError unless there are pairs or documents to read and a folder for the
// model.
absl::Status CheckFilesAreNamed(const DataOptions& data);

// Replaces -1, kAuto and UNSPECIFIED by what they stand for, and clears what
// the tower has no use for. FlagError naming the flag, the value and the limit.
// Resolved options stay as they are when they are resolved again.
absl::Status ResolveOptions(TrainOptions& options);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_OPTIONS_RESOLVE_OPTIONS_H_
