// The flags of semrank-train.
#ifndef SEMRANK_MODEL_TRAIN_TRAIN_FLAGS_H_
#define SEMRANK_MODEL_TRAIN_TRAIN_FLAGS_H_

#include "absl/status/statusor.h"
#include "model/train/options/train_options.h"

namespace semrank {

// What the command line asks for: the defaults, changed by --preset, changed
// by the flags that were set. FlagError for a value that cannot be read;
// ranges are checked by ResolveOptions.
absl::StatusOr<TrainOptions> TrainOptionsFromFlags();

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_TRAIN_FLAGS_H_
