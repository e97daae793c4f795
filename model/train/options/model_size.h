// The layers of a model, how many weights they have, and the memory that it
// takes to train them. `options` are resolved.
#ifndef SEMRANK_MODEL_TRAIN_OPTIONS_MODEL_SIZE_H_
#define SEMRANK_MODEL_TRAIN_OPTIONS_MODEL_SIZE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/train/options/train_options.h"

namespace semrank {

// Paddings "<s>" around a text: window / 2 on each side with CLSM, otherwise 0.
int NumPaddings(const TowerOptions& options);

// Sizes of the layers of a tower: input, hidden, vector. The input has
// num_features elements, with CLSM for each place of the window.
std::vector<int> TowerWidths(const TowerOptions& options, int num_features);

// Weights and biases of a tower with these layer widths, as from TowerWidths.
std::int64_t NumParameters(const std::vector<int>& widths);

// Floats that an optimizer keeps for each weight.
int OptimizerStateSize(v1::Optimizer kind);

// Bytes of the weights, their copy of the best epoch, the optimizer's state and
// gradients that are kept, to be clipped or summed over processes; for SSI also
// idf and correlated words. A caller whose result decides the order of the
// pairs passes no num_processes: a run may be resumed with another number.
// Fails as NumSsiParameters.
absl::StatusOr<std::int64_t> ModelBytes(const TrainOptions& options,
                                        int num_features,
                                        int num_processes = 1);

// The flags that make such a model smaller, for messages.
std::string_view ModelSizeFlags(const TowerOptions& options);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_OPTIONS_MODEL_SIZE_H_
