#include "model/train/towers/tower_weights.h"

#include <cmath>

#include "absl/strings/str_format.h"

namespace semrank {

void TowerWeights::AppendTensors(std::string_view side,
                                 std::vector<TensorView>& tensors) const {
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const LayerWeights& layer = layers[l];
    tensors.push_back({absl::StrFormat("%s.%d.weight", side, l),
                       {layer.in, layer.out},
                       layer.weight.data()});
    tensors.push_back({absl::StrFormat("%s.%d.bias", side, l),
                       {layer.out},
                       layer.bias.data()});
  }
}

TowerWeights InitialWeights(const std::vector<int>& widths, Random random) {
  TowerWeights tower;
  for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
    const int in = widths[l], out = widths[l + 1];
    const float range = static_cast<float>(std::sqrt(6.0 / (in + out)));
    LayerWeights layer = {in, out, {}, std::vector<float>(out), true};
    layer.weight.resize(static_cast<std::size_t>(in) * out);
    // One random stream serves layer after layer: weights depend on the seed
    // and the widths.
    for (float& weight : layer.weight) weight = random.Between(-range, range);
    tower.layers.push_back(std::move(layer));
  }
  return tower;
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
