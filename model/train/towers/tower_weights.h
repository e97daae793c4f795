// The learned numbers of one tower, and what updates them: for each layer a
// weight [in, out], row-major, and a bias [out]. Layer 0 reads the text.
#ifndef SEMRANK_MODEL_TRAIN_TOWERS_TOWER_WEIGHTS_H_
#define SEMRANK_MODEL_TRAIN_TOWERS_TOWER_WEIGHTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "model/base/huge_pages.h"
#include "model/base/random.h"
#include "model/format/safetensors.h"
#include "model/train/optimizer/parameter_optimizer.h"

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

  // Appends "query.0.weight", "query.0.bias", ... for side "query".
  void AppendTensors(std::string_view side,
                     std::vector<TensorView>& tensors) const;
};

// `widths` has the rows of layer 0, the hidden layers and the vector. Weights
// are uniform in +-sqrt(6 / (in + out)) (DSSM 3.4), biases 0.
TowerWeights InitialWeights(const std::vector<int>& widths, Random random);

// The optimizers of one layer's weight and bias. The gradient of the bias is
// used at once, or kept after KeepGradients; the layer keeps the gradient of
// the weight.
//
//   Threads  BeginStep by one thread; updates from any, of disjoint parts.
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
  void AppendState(const std::string& name, std::vector<StateTensor>& state) {
    weight_.AppendState(name + ".weight", state);
    bias_.AppendState(name + ".bias", state);
  }
  void set_num_steps(std::int64_t num_steps) {
    weight_.set_num_steps(num_steps);
    bias_.set_num_steps(num_steps);
  }

  void BeginStep(double learning_rate) {
    weight_.BeginStep(learning_rate);
    bias_.BeginStep(learning_rate);
  }
  // Updates rows of the weight from `first_row` on; `gradients` are whole rows.
  void UpdateWeight(int first_row, std::span<const float> gradient, int width) {
    weight_.Update(static_cast<std::size_t>(first_row) * width, gradient);
  }
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

#endif  // SEMRANK_MODEL_TRAIN_TOWERS_TOWER_WEIGHTS_H_
