// The learned numbers of one tower: for each layer a weight [in, out],
// row-major, and a bias [out]. Layer 0 reads the text.
#ifndef SEMRANK_MODEL_TRAIN_TOWERS_TOWER_WEIGHTS_H_
#define SEMRANK_MODEL_TRAIN_TOWERS_TOWER_WEIGHTS_H_

#include <string_view>
#include <vector>

#include "model/base/huge_pages.h"
#include "model/base/random.h"
#include "model/format/safetensors.h"
#include "model/nn/dssm_tower.h"

namespace semrank {

struct LayerWeights {
  int in = 0;
  int out = 0;
  HugePageVector<float> weight;  // layer 0 reads rows all over it
  std::vector<float> bias;
  bool learns_bias = true;
};

struct TowerWeights {
  std::vector<LayerWeights> layers;

  // Views of the layers; valid while this lives unchanged.
  std::vector<LayerView> Views() const;
  // Appends "query.0.weight", "query.0.bias", ... for side "query".
  void AppendTensors(std::string_view side,
                     std::vector<TensorView>& tensors) const;
};

// `widths` has the rows of layer 0, the hidden layers and the vector. Weights
// are uniform in +-sqrt(6 / (in + out)) (DSSM 3.4), biases 0.
TowerWeights InitialWeights(const std::vector<int>& widths, Random random);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_TOWERS_TOWER_WEIGHTS_H_
