// The optimizers of one layer's weight and bias. The gradient of the bias is
// used at once, or kept after KeepGradients; the layer keeps the gradient of
// the weight.
//
//   Threads  BeginStep by one thread; updates from any, of disjoint parts.
#ifndef SEMRANK_MODEL_TRAIN_TOWERS_LAYER_OPTIMIZER_H_
#define SEMRANK_MODEL_TRAIN_TOWERS_LAYER_OPTIMIZER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "model/train/optimizer/parameter_optimizer.h"
#include "model/train/towers/tower_weights.h"

namespace semrank {

class LayerOptimizer {
 public:
  // `weights` outlive the optimizer and do not move.
  LayerOptimizer(const OptimizerOptions& options, LayerWeights& weights)
      : weight_(options, weights.weight),
        bias_(options, weights.bias),
        bias_size_(weights.bias.size()),
        learns_bias_(weights.learns_bias) {}

  // Call it before the first step.
  void KeepGradients() {
    keeps_gradients_ = true;
    kept_bias_.resize(bias_size_);
  }
  bool keeps_gradients() const { return keeps_gradients_; }

  // As ParameterOptimizer, under `name`.weight and `name`.bias.
  void AppendState(const std::string& name, std::vector<StateTensor>& state);
  void set_num_steps(std::int64_t num_steps);

  void BeginStep(double learning_rate);
  // Updates rows of the weight from `first_row` on; `gradients` are whole rows.
  void UpdateWeight(int first_row, std::span<const float> gradient, int width);
  // A hint that this row is updated soon.
  void PrefetchWeight(int row, int width) const {
    weight_.Prefetch(static_cast<std::size_t>(row) * width, width);
  }
  // The gradient of the bias is the sum of the deltas, which `add_deltas` adds
  // to zeros; not called, and nothing changes, when the layer does not learn
  // the bias.
  void UpdateBias(absl::FunctionRef<void(float*)> add_deltas,
                  std::vector<float>& scratch);
  std::vector<float>& kept_bias() { return kept_bias_; }
  void UpdateKeptBias() { bias_.Update(0, kept_bias_); }

 private:
  ParameterOptimizer weight_;
  ParameterOptimizer bias_;
  std::size_t bias_size_;
  bool learns_bias_;
  bool keeps_gradients_ = false;
  std::vector<float> kept_bias_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_TOWERS_LAYER_OPTIMIZER_H_
