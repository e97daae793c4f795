// The flags of semrank-train by group, as values. Each group has a source file
// of its own; TrainOptionsFromFlags puts them together.
//
//   Errors   FlagError for a value that cannot be read.
#ifndef SEMRANK_MODEL_TRAIN_OPTIONS_FLAG_GROUPS_H_
#define SEMRANK_MODEL_TRAIN_OPTIONS_FLAG_GROUPS_H_

#include "absl/status/status.h"
#include "model/train/options/train_options.h"

namespace semrank {

// Flags that a preset can stand for change `options` only if they were set.
absl::Status ReadFlags(DataOptions& options);
absl::Status ReadFlags(FeatureOptions& options);
absl::Status ReadFlags(TowerOptions& options);
absl::Status ReadFlags(SsiOptions& options);
absl::Status ReadFlags(LossOptions& options);
absl::Status ReadFlags(OptimizerOptions& options);
absl::Status ReadFlags(CheckpointOptions& options);

// What holds without --tower: linear, or dssm when hidden layers are asked for.
v1::TowerKind DefaultTowerFromFlags();

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_OPTIONS_FLAG_GROUPS_H_
