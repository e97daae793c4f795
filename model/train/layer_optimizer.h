// The optimizers of one layer's weight and bias.
//
//   Threads  BeginStep by one thread; updates from any, of disjoint parts.
#ifndef SEMRANK_MODEL_TRAIN_LAYER_OPTIMIZER_H_
#define SEMRANK_MODEL_TRAIN_LAYER_OPTIMIZER_H_

#include <cstddef>
#include <span>
#include <vector>

#include "model/train/parameter_optimizer.h"
#include "model/train/tower_weights.h"

namespace semrank {

class LayerOptimizer {
 public:
  // `weights` outlive the optimizer and do not move.
  LayerOptimizer(const OptimizerOptions& options, LayerWeights& weights)
      : weight_(options, weights.weight), bias_(options, weights.bias) {}

  void BeginStep(double learning_rate);
  // Rows of the weight from `first_row` on; whole rows of gradients.
  void UpdateWeight(int first_row, std::span<const float> gradient, int width);
  // The gradient of the bias is the sum of the rows of `deltas` [num_texts,
  // width].
  void UpdateBias(const float* deltas, int num_texts, int width,
                  std::vector<float>& scratch);

 private:
  ParameterOptimizer weight_;
  ParameterOptimizer bias_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_LAYER_OPTIMIZER_H_
