// Settings that go together: the defaults of a tower, and those of a paper
// (--preset).
#ifndef SEMRANK_MODEL_TRAIN_OPTIONS_PRESETS_H_
#define SEMRANK_MODEL_TRAIN_OPTIONS_PRESETS_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "model/train/options/train_options.h"

namespace semrank {

// The defaults without --preset: the best all-round choice for a tower.
TrainOptions DefaultOptions(v1::TowerKind tower);

// The settings of a paper to the letter, over the defaults; MATHEMATICS.md says
// what the paper leaves open. FlagError for a name that is not known.
absl::StatusOr<TrainOptions> PresetOptions(std::string_view name);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_OPTIONS_PRESETS_H_
