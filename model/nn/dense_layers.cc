#include "model/nn/dense_layers.h"

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
      output_activation_(output_activation) {
  // Layer 0 reads the text: its tower computes it as a sum of rows.
  for (const LayerView& layer : layers.subspan(1)) {
    const StridedMatrix weight = {layer.weight, layer.in, layer.out, layer.out,
                                  1};
    if (precision == VectorPrecision::kInt8) {
      int8_layers_.emplace_back(weight, layer.bias);
    } else {
      float_layers_.push_back({PackedMatrix(weight), layer.bias});
    }
  }
}

int DenseLayers::width(std::size_t layer) const {
  return int8_layers_.empty() ? float_layers_[layer].weight.columns()
                              : int8_layers_[layer].width();
}

void DenseLayers::Apply(std::size_t layer, int rows, const float* inputs,
                        TowerScratch& scratch, float* outputs) const {
  if (!int8_layers_.empty()) {
    return int8_layers_[layer].Apply(rows, inputs, scratch.int8, outputs);
  }
  const auto& [weight, bias] = float_layers_[layer];
  Multiply({inputs, rows, weight.depth(), weight.depth(), 1}, weight,
           {.bias = bias}, outputs, weight.columns());
}

// Two buffers take turns as input and output of a layer. The last layer writes
// to `vectors`, and so does the first if it is the only one.
float* DenseLayers::Input(int rows, TowerScratch& scratch,
                          float* vectors) const {
  return num_layers() == 0 ? vectors
                           : GrowTo(scratch.activations[0], rows, input_dim_);
}

void DenseLayers::Finish(int rows, float* input, TowerScratch& scratch,
                         float* vectors) const {
  const auto activate = [rows](float* values, int width) {
    Tanh(values,
         static_cast<std::size_t>(rows) * static_cast<std::size_t>(width));
  };
  const std::size_t last = num_layers();
  float* values = input;
  // The caller has computed the layer that reads the text.
  for (std::size_t i = 0; i < last; ++i) {
    activate(values, i == 0 ? input_dim_ : width(i - 1));
    float* const outputs =
        i + 1 == last
            ? vectors
            : GrowTo(scratch.activations[(i + 1) % 2], rows, width(i));
    Apply(i, rows, values, scratch, outputs);
    values = outputs;
  }
  if (output_activation_ == Activation::kTanh) activate(vectors, output_dim_);
  // Vectors get unit length, so that the cosine (DSSM eq. 5) is a dot product
  // and the division is made once a text, not once a pair.
  NormalizeRows(rows, output_dim_, vectors);
}

}  // namespace semrank
