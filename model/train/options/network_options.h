// The options of the towers and of their features: the flags, and the rules
// among them.
#ifndef SEMRANK_MODEL_TRAIN_OPTIONS_NETWORK_OPTIONS_H_
#define SEMRANK_MODEL_TRAIN_OPTIONS_NETWORK_OPTIONS_H_

#include "absl/status/status.h"
#include "model/train/options/train_options.h"

namespace semrank {

class CommandLine;

void AddTowerFlags(CommandLine& flags, TowerOptions& options);
void AddFeatureFlags(CommandLine& flags, FeatureOptions& options);

// ResolveOptions for these flags alone. FlagError as ResolveOptions.
absl::Status ResolveTower(TowerOptions& tower);
absl::Status ResolveFeatures(FeatureOptions& features);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_OPTIONS_NETWORK_OPTIONS_H_
