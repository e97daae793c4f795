// The fully connected layers of a tower after the one that reads the text (DSSM
// eq. 4, 5; CLSM 3.5): from that layer's output before its activation to the
// vector.
//
//   Threads  thread-safe; each thread uses its own scratch.
#ifndef SEMRANK_MODEL_NN_DENSE_LAYERS_H_
#define SEMRANK_MODEL_NN_DENSE_LAYERS_H_

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "model/nn/gemm.h"
#include "model/nn/int8_layer.h"
#include "model/nn/row_format.h"
#include "model/nn/tower.h"

namespace semrank {

enum class Activation { kTanh, kLinear };

// One fully connected layer as stored: weight [in, out] row-major, bias [out].
struct LayerView {
  int in = 0;
  int out = 0;
  const float* weight = nullptr;
  const float* bias = nullptr;
};

// InvalidArgument when the shapes do not chain or a size is not positive.
absl::Status CheckLayers(std::span<const LayerView> layers);

class DenseLayers {
 public:
  DenseLayers() = default;
  // Takes all layers of a tower, checked by CheckLayers. Uses only the width of
  // layers[0], which reads the text, and packs the others. The last layer has
  // `output_activation`, all others tanh. When the model's vectors are int8,
  // the others are computed in int8 as well (Int8Layer).
  DenseLayers(std::span<const LayerView> layers, Activation output_activation,
              VectorPrecision precision);

  int embedding_dim() const { return output_dim_; }
  // Where the caller writes the output of layer 0: memory for `rows` rows of
  // its width, `vectors` itself when there is no other layer.
  float* Input(int rows, TowerScratch& scratch, float* vectors) const;
  // Computes `vectors` [rows, embedding_dim()] with L2 norm 1 from that memory.
  void Finish(int rows, float* input, TowerScratch& scratch,
              float* vectors) const;

 private:
  struct FloatLayer {
    PackedMatrix weight;
    const float* bias;
  };

  std::size_t num_layers() const {
    return float_layers_.size() + int8_layers_.size();
  }
  int width(std::size_t layer) const;
  void Apply(std::size_t layer, int rows, const float* inputs,
             TowerScratch& scratch, float* outputs) const;

  int input_dim_ = 0;
  int output_dim_ = 0;
  Activation output_activation_ = Activation::kTanh;
  // The layers after the first, in one of two forms.
  std::vector<FloatLayer> float_layers_;
  std::vector<Int8Layer> int8_layers_;
};

// Sets the vector of a text without any known feature to zero; otherwise it
// would be that of the biases. has_features(i) is for row i.
template <typename HasFeatures>
void ClearEmptyTexts(int rows, int width, HasFeatures has_features,
                     float* vectors) {
  for (int i = 0; i < rows; ++i, vectors += width) {
    if (!has_features(i)) std::fill_n(vectors, width, 0.0f);
  }
}

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_DENSE_LAYERS_H_
