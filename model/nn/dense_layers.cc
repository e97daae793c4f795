#include "model/nn/dense_layers.h"

#include <cstddef>

#include "absl/strings/str_format.h"
#include "model/nn/kernels.h"

namespace semrank {

absl::Status CheckLayers(std::span<const LayerView> layers) {
  if (layers.empty()) {
    return absl::InvalidArgumentError("a tower needs at least one layer");
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerView& layer = layers[i];
    if (layer.in <= 0 || layer.out <= 0) {
      return absl::InvalidArgumentError(
          absl::StrFormat("layer %d has shape [%d, %d]; both must be positive",
                          i, layer.in, layer.out));
    }
    if (layer.weight == nullptr || layer.bias == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrFormat("layer %d lacks weights or bias", i));
    }
    if (i > 0 && layers[i - 1].out != layer.in) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "layer %d takes %d inputs, but layer %d has %d outputs", i, layer.in,
          i - 1, layers[i - 1].out));
    }
  }
  return absl::OkStatus();
}

DenseLayers::DenseLayers(std::span<const LayerView> layers,
                         Activation output_activation,
                         VectorPrecision precision)
    : input_dim_(layers.front().out),
      output_dim_(layers.back().out),
      output_activation_(output_activation),
      bf16_(precision != VectorPrecision::kFloat32) {
  for (const LayerView& layer : layers.subspan(1)) {
    const StridedMatrix weight = {layer.weight, layer.in, layer.out, layer.out,
                                  1};
    if (bf16_) {
      // Pairs of inputs, which are rows of the weights.
      const int num_pairs = (layer.in + 1) / 2;
      std::vector<float> pairs(static_cast<std::size_t>(layer.out) *
                               static_cast<std::size_t>(num_pairs));
      PairBf16(weight.Transposed(), pairs.data());
      packed_.emplace_back(
          StridedMatrix{pairs.data(), num_pairs, layer.out, 1, num_pairs});
    } else {
      packed_.emplace_back(weight);
    }
    biases_.push_back(layer.bias);
  }
}

// Two buffers take turns as input and output of a layer. The last layer writes
// to `vectors`, and so does the first if it is the only one.
float* DenseLayers::Input(int rows, TowerScratch& scratch,
                          float* vectors) const {
  return packed_.empty() ? vectors
                         : GrowTo(scratch.activations[0], rows, input_dim_);
}

void DenseLayers::Finish(int rows, float* input, TowerScratch& scratch,
                         float* vectors) const {
  float* values = input;
  int width = input_dim_;
  for (std::size_t i = 0; i <= packed_.size(); ++i) {
    // Step 0 has only the activation: the layer that reads the text has been
    // computed by the caller.
    if (i > 0) {
      const PackedMatrix& weight = packed_[i - 1];
      float* output = i == packed_.size() ? vectors
                                          : GrowTo(scratch.activations[i % 2],
                                                   rows, weight.columns());
      StridedMatrix inputs = {values, rows, width, width, 1};
      if (bf16_) {
        const int num_pairs = weight.depth();
        float* const pairs = GrowTo(scratch.bf16_pairs, rows, num_pairs);
        PairBf16(inputs, pairs);
        inputs = {pairs, rows, num_pairs, num_pairs, 1};
      }
      Multiply(inputs, weight, {.bias = biases_[i - 1], .bf16_pairs = bf16_},
               output, weight.columns());
      values = output;
      width = weight.columns();
    }
    if (i < packed_.size() || output_activation_ == Activation::kTanh) {
      Tanh(values,
           static_cast<std::size_t>(rows) * static_cast<std::size_t>(width));
    }
  }
  // Of unit length, so that the cosine (DSSM eq. 5) is a dot product and is
  // divided once a text, not once a pair.
  NormalizeRows(rows, output_dim_, vectors);
}

}  // namespace semrank
