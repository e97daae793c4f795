#include "model/nn/dssm_tower.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/nn/kernels.h"

namespace semrank {
namespace {

// Texts that pass through all layers together, so that their activations stay
// in the second-level cache. Does not change the result.
constexpr int kBlockTexts = 96;

absl::Status CheckLayers(const std::vector<LayerView>& layers) {
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

float* Grow(std::vector<float>& values, int rows, int width) {
  const auto size =
      static_cast<std::size_t>(rows) * static_cast<std::size_t>(width);
  if (values.size() < size) values.resize(size);
  return values.data();
}

// A text without any known feature has the zero vector, not the biases'.
void ClearEmptyTexts(const BagBatch& batch, int first, int last, int width,
                     float* vectors) {
  for (int t = first; t < last; ++t) {
    if (batch.offsets[t] != batch.offsets[t + 1]) continue;
    std::fill_n(vectors + static_cast<std::ptrdiff_t>(t - first) * width, width,
                0.0f);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<DssmTower>> DssmTower::Create(
    std::vector<LayerView> layers, Activation output_activation,
    std::shared_ptr<const void> storage) {
  SEMRANK_RETURN_IF_ERROR(CheckLayers(layers));
  // make_unique cannot reach the private constructor.
  std::unique_ptr<DssmTower> tower(new DssmTower());
  for (std::size_t i = 1; i < layers.size(); ++i) {
    const LayerView& layer = layers[i];
    tower->packed_.emplace_back(
        StridedMatrix{layer.weight, layer.in, layer.out, layer.out, 1});
  }
  tower->layers_ = std::move(layers);
  tower->output_activation_ = output_activation;
  tower->storage_ = std::move(storage);
  return tower;
}

void DssmTower::Embed(const BagBatch& batch, TowerScratch& scratch,
                      float* vectors) const {
  for (int first = 0; first < batch.num_texts(); first += kBlockTexts) {
    const int last = std::min(first + kBlockTexts, batch.num_texts());
    EmbedBlock(batch, first, last, scratch,
               vectors + static_cast<std::ptrdiff_t>(first) * embedding_dim());
  }
}

void DssmTower::EmbedBlock(const BagBatch& batch, int first, int last,
                           TowerScratch& scratch, float* vectors) const {
  const int rows = last - first;
  const float* input = nullptr;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const LayerView& layer = layers_[i];
    const bool is_output = i + 1 == layers_.size();
    float* output =
        is_output ? vectors : Grow(scratch.activations[i % 2], rows, layer.out);
    if (i == 0) {
      SumBags(batch, first, last, layer.weight, layer.out, output);
      AddBias(layer.bias, rows, layer.out, output);
    } else {
      Multiply({input, rows, layer.in, layer.in, 1}, packed_[i - 1],
               {.bias = layer.bias}, output, layer.out);
    }
    if (!is_output || output_activation_ == Activation::kTanh) {
      Tanh(output, static_cast<std::size_t>(rows) *
                       static_cast<std::size_t>(layer.out));
    }
    input = output;
  }
  NormalizeRows(rows, embedding_dim(), vectors);
  ClearEmptyTexts(batch, first, last, embedding_dim(), vectors);
}

}  // namespace semrank
