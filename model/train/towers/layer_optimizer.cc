#include "model/train/towers/layer_optimizer.h"

namespace semrank {

void LayerOptimizer::AppendState(const std::string& name,
                                 std::vector<StateTensor>& state) {
  weight_.AppendState(name + ".weight", state);
  bias_.AppendState(name + ".bias", state);
}

void LayerOptimizer::set_num_steps(std::int64_t num_steps) {
  weight_.set_num_steps(num_steps);
  bias_.set_num_steps(num_steps);
}

void LayerOptimizer::BeginStep(double learning_rate) {
  weight_.BeginStep(learning_rate);
  bias_.BeginStep(learning_rate);
}

void LayerOptimizer::UpdateWeight(int first_row,
                                  std::span<const float> gradient, int width) {
  weight_.Update(static_cast<std::size_t>(first_row) * width, gradient);
}

void LayerOptimizer::UpdateBias(absl::FunctionRef<void(float*)> add_deltas,
                                std::vector<float>& scratch) {
  if (!learns_bias_) return;
  std::vector<float>& gradient = keeps_gradients() ? kept_bias_ : scratch;
  // db is the sum of delta over the texts. One task adds them in order: with
  // partial sums for each thread, rounding would depend on their number.
  gradient.assign(bias_size_, 0);
  add_deltas(gradient.data());
  if (!keeps_gradients()) bias_.Update(0, gradient);
}

}  // namespace semrank
