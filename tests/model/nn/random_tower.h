// Towers' weights and texts for the tests of model/nn; the same in every run.
#ifndef SEMRANK_TESTS_MODEL_NN_RANDOM_TOWER_H_
#define SEMRANK_TESTS_MODEL_NN_RANDOM_TOWER_H_

#include <cmath>
#include <cstddef>
#include <vector>

#include "model/nn/dense_layers.h"
#include "tests/model/nn/random_values.h"

namespace semrank {

// Weights of a tower with the given widths, the first being its features.
struct RandomWeights {
  RandomWeights(std::vector<int> widths, unsigned seed) {
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
      matrices.push_back(RandomValues(
          static_cast<std::size_t>(widths[i]) * widths[i + 1], seed + i));
      biases.push_back(RandomValues(widths[i + 1], seed + 100 + i));
      for (float& w : matrices.back()) w *= 2 / std::sqrt(float(widths[i]));
      layers.push_back({widths[i], widths[i + 1], matrices.back().data(),
                        biases.back().data()});
    }
  }
  std::vector<std::vector<float>> matrices, biases;
  std::vector<LayerView> layers;
};

// The dense layers from `first` on and the division by the norm (DSSM eq. 4,
// 5), in double precision. `x` is the input of layer `first`.
inline std::vector<double> SlowFinish(const std::vector<LayerView>& layers,
                                      std::size_t first,
                                      Activation output_activation,
                                      std::vector<double> x) {
  for (std::size_t n = first; n < layers.size(); ++n) {
    const LayerView& layer = layers[n];
    std::vector<double> y(layer.bias, layer.bias + layer.out);
    for (int i = 0; i < layer.in; ++i) {
      for (int j = 0; j < layer.out; ++j) {
        y[j] += x[i] * layer.weight[i * layer.out + j];
      }
    }
    const bool is_output = n + 1 == layers.size();
    if (!is_output || output_activation == Activation::kTanh) {
      for (double& v : y) v = std::tanh(v);
    }
    x = y;
  }
  double norm = 0;
  for (const double v : x) norm += v * v;
  for (double& v : x) v /= std::sqrt(norm);
  return x;
}

}  // namespace semrank

#endif  // SEMRANK_TESTS_MODEL_NN_RANDOM_TOWER_H_
