// The shape of the networks.
#ifndef SEMRANK_MODEL_TRAIN_TOWER_OPTIONS_H_
#define SEMRANK_MODEL_TRAIN_TOWER_OPTIONS_H_

#include <vector>

#include "absl/status/status.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

struct TowerOptions {
  v1::TowerKind kind = v1::TOWER_KIND_DSSM;
  bool shared = true;
  // Widths between the input and the vector; of no effect for LINEAR.
  std::vector<int> hidden_dims = {300, 300};
  int embedding_dim = 128;
  // Share of hidden units put to 0 while learning, 0 to below 1.
  double dropout = 0;
  // Unspecified = tanh for DSSM, which has no other; identity for LINEAR.
  v1::Activation activation = v1::ACTIVATION_UNSPECIFIED;
};

// Replaces UNSPECIFIED by what it stands for, then checks; FlagError as
// ResolveOptions.
absl::Status Resolve(TowerOptions& options);

// Widths of the layers of a tower: num_features, hidden, vector.
std::vector<int> TowerWidths(const TowerOptions& options, int num_features);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_TOWER_OPTIONS_H_
