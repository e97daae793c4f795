#include "model/train/tower_trainer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "model/base/status_macros.h"
#include "model/nn/kernels.h"

namespace semrank {
namespace {

constexpr int kTextBlock = 64;
constexpr int kWeightRowBlock = 48;
// Features whose gradients are summed before they are used, and how many
// (feature, text) pairs make a piece.
constexpr int kBagRowBlock = 16;
constexpr std::uint32_t kBagPieceEntries = 2048;

StridedMatrix Rows(const std::vector<float>& data, int first, int last,
                   int width) {
  return {data.data() + static_cast<std::size_t>(first) * width, last - first,
          width, width, 1};
}

float* Row(std::vector<float>& data, int row, int width) {
  return data.data() + static_cast<std::size_t>(row) * width;
}

// tanh'(z) = (1 - y)(1 + y) with y = tanh(z), eq. 16 and 17.
void MultiplyTanhDerivative(const float* __restrict outputs, std::size_t count,
                            float* __restrict deltas) {
  for (std::size_t i = 0; i < count; ++i) {
    deltas[i] *= (1 - outputs[i]) * (1 + outputs[i]);
  }
}

}  // namespace

TowerTrainer::TowerTrainer(TowerWeights weights,
                           const TowerTrainerOptions& options)
    : weights_(std::move(weights)),
      options_(options),
      scratch_(options.num_workers) {
  for (LayerWeights& layer : weights_.layers) {
    optimizers_.push_back({ParameterOptimizer(options.optimizer, layer.weight),
                           ParameterOptimizer(options.optimizer, layer.bias)});
    layers_.emplace_back();
    layers_.back().in = layer.in;
    layers_.back().out = layer.out;
  }
}

bool TowerTrainer::IsTanh(std::size_t layer) const {
  return layer + 1 < layers_.size() ||
         options_.output_activation == Activation::kTanh;
}

absl::Status TowerTrainer::SetTexts(const TextBags& texts,
                                    std::span<const TextId> ids) {
  texts_ = &texts;
  ids_ = ids;
  SEMRANK_RETURN_IF_ERROR(texts.Layout(ids, bags_));
  for (Layer& layer : layers_) {
    layer.activations.resize(ids.size() * layer.out);
  }
  norms_.resize(ids.size());
  vectors_.resize(ids.size() * layers_.back().out);
  return absl::OkStatus();
}

void TowerTrainer::AddPrepareWork(WorkList& work) {
  if (!weights_packed_) {
    work.Add(static_cast<int>(layers_.size()) - 1, [this](int piece, int) {
      Layer& layer = layers_[piece + 1];
      const StridedMatrix weight = {weights_.layers[piece + 1].weight.data(),
                                    layer.in, layer.out, layer.out, 1};
      layer.weight.Pack(weight);
      layer.weight_transposed.Pack(weight.Transposed());
    });
    weights_packed_ = true;
  }
  work.AddBlocks(num_texts(), kTextBlock, [this](int first, int last, int) {
    texts_->Fill(ids_, first, last, bags_);
  });
}

void TowerTrainer::AddForwardWork(bool learn, WorkList& work) {
  if (learn) {
    vector_gradients_.resize(vectors_.size());
    for (Layer& layer : layers_) layer.deltas.resize(layer.activations.size());
    work.Add(1, [this](int, int) { TransposeBags(); });
  }
  work.AddBlocks(num_texts(), kTextBlock,
                 [this](int first, int last, int) { Forward(first, last); });
}

// Eq. 3-5 for texts [first, last).
void TowerTrainer::Forward(int first, int last) {
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    Layer& layer = layers_[l];
    const float* bias = weights_.layers[l].bias.data();
    float* out = Row(layer.activations, first, layer.out);
    if (l == 0) {
      SumBags(bags_, first, last, weights_.layers[0].weight.data(), layer.out,
              out);
      AddBias(bias, last - first, layer.out, out);
    } else {
      Multiply(Rows(layers_[l - 1].activations, first, last, layer.in),
               layer.weight, {.bias = bias}, out, layer.out);
    }
    if (IsTanh(l)) {
      Tanh(out, static_cast<std::size_t>(last - first) * layer.out);
    }
  }
  const int dim = layers_.back().out;
  std::copy_n(Row(layers_.back().activations, first, dim),
              static_cast<std::size_t>(last - first) * dim,
              Row(vectors_, first, dim));
  NormalizeRows(last - first, dim, Row(vectors_, first, dim), &norms_[first]);
  for (int t = first; t < last; ++t) CheckVector(t);
}

void TowerTrainer::CheckVector(int t) {
  const int dim = layers_.back().out;
  float* vector = Row(vectors_, t, dim);
  if (bags_.offsets[t] == bags_.offsets[t + 1]) {
    // A text without features has no vector, whatever the biases say.
    std::fill_n(vector, dim, 0.0f);
    norms_[t] = 0;
  } else if (norms_[t] == 0) {
    // NormalizeRows hides an output that is not a number; training must not.
    const float* output = Row(layers_.back().activations, t, dim);
    if (!std::all_of(output, output + dim,
                     [](float y) { return std::isfinite(y); })) {
      std::fill_n(vector, dim, std::numeric_limits<float>::quiet_NaN());
    }
  }
}

void TowerTrainer::TransposeBags() {
  transpose_.Build(bags_, layers_[0].in);
  const std::vector<std::uint32_t>& offsets = transpose_.texts().offsets;
  const int num_features = transpose_.texts().num_texts();
  transpose_bounds_.assign(1, 0);
  for (int f = 0; f < num_features; ++f) {
    if (offsets[f + 1] - offsets[transpose_bounds_.back()] >=
        kBagPieceEntries) {
      transpose_bounds_.push_back(f + 1);
    }
  }
  if (transpose_bounds_.back() != num_features) {
    transpose_bounds_.push_back(num_features);
  }
}

void TowerTrainer::AddBackwardWork(WorkList& work) {
  work.AddBlocks(num_texts(), kTextBlock,
                 [this](int first, int last, int) { Backward(first, last); });
}

void TowerTrainer::Backward(int first, int last) {
  BackwardOutput(first, last);
  for (std::size_t l = layers_.size() - 1; l > 0; --l) {
    const Layer& layer = layers_[l];
    Layer& below = layers_[l - 1];
    float* deltas = Row(below.deltas, first, below.out);
    Multiply(Rows(layer.deltas, first, last, layer.out),
             layer.weight_transposed, {}, deltas, below.out);
    MultiplyTanhDerivative(Row(below.activations, first, below.out),
                           static_cast<std::size_t>(last - first) * below.out,
                           deltas);
  }
}

// Eq. 16: through v = y / |y|, dloss/dy = (g - (g . v) v) / |y|.
void TowerTrainer::BackwardOutput(int first, int last) {
  Layer& layer = layers_.back();
  const int dim = layer.out;
  for (int t = first; t < last; ++t) {
    const float* vector = Row(vectors_, t, dim);
    const float* gradient = Row(vector_gradients_, t, dim);
    float* deltas = Row(layer.deltas, t, dim);
    // The norm below which NormalizeRows makes a vector zero: no direction, no
    // gradient.
    const float inverse = norms_[t] < 1e-12f ? 0 : 1 / norms_[t];
    const float along = Dot(gradient, vector, dim);
    for (int i = 0; i < dim; ++i) {
      deltas[i] = (gradient[i] - along * vector[i]) * inverse;
    }
  }
  if (IsTanh(layers_.size() - 1)) {
    MultiplyTanhDerivative(Row(layer.activations, first, dim),
                           static_cast<std::size_t>(last - first) * dim,
                           Row(layer.deltas, first, dim));
  }
}

void TowerTrainer::AddPackWork(WorkList& work) {
  work.Add(static_cast<int>(layers_.size()) - 1, [this](int piece, int) {
    Layer& layer = layers_[piece + 1];
    layer.packed_deltas.Pack(Rows(layer.deltas, 0, num_texts(), layer.out));
  });
}

void TowerTrainer::AddUpdateWork(WorkList& work) {
  for (std::size_t l = layers_.size(); l-- > 0;) {
    optimizers_[l].weight.BeginStep();
    optimizers_[l].bias.BeginStep();
    work.Add(1,
             [this, l](int, int worker) { UpdateBias(l, scratch_[worker]); });
    if (l == 0) continue;
    work.AddBlocks(layers_[l].in, kWeightRowBlock,
                   [this, l](int first, int last, int worker) {
                     UpdateDense(l, first, last, scratch_[worker]);
                   });
  }
  work.Add(static_cast<int>(transpose_bounds_.size()) - 1,
           [this](int piece, int worker) {
             UpdateBagRows(transpose_bounds_[piece],
                           transpose_bounds_[piece + 1], scratch_[worker]);
           });
  weights_packed_ = false;
}

// Rows [first, last) of dloss/dW = X^T delta, eq. 18-19.
void TowerTrainer::UpdateDense(std::size_t l, int first, int last,
                               std::vector<float>& scratch) {
  const Layer& layer = layers_[l];
  const StridedMatrix inputs = {layers_[l - 1].activations.data() + first,
                                last - first, num_texts(), 1, layer.in};
  scratch.resize(static_cast<std::size_t>(last - first) * layer.out);
  Multiply(inputs, layer.packed_deltas, {}, scratch.data(), layer.out);
  optimizers_[l].weight.Update(static_cast<std::size_t>(first) * layer.out,
                               scratch);
}

// The row of a feature gets the deltas of the texts that have it, times count.
void TowerTrainer::UpdateBagRows(int first, int last,
                                 std::vector<float>& scratch) {
  const Layer& layer = layers_[0];
  const std::size_t width = layer.out;
  scratch.resize(kBagRowBlock * width);
  for (int begin = first; begin < last; begin += kBagRowBlock) {
    const int end = std::min(last, begin + kBagRowBlock);
    SumBags(transpose_.texts(), begin, end, layer.deltas.data(), layer.out,
            scratch.data());
    for (int f = begin; f < end; ++f) {
      optimizers_[0].weight.Update(
          transpose_.features()[f] * width,
          std::span(&scratch[(f - begin) * width], width));
    }
  }
}

void TowerTrainer::UpdateBias(std::size_t l, std::vector<float>& scratch) {
  const Layer& layer = layers_[l];
  scratch.assign(layer.out, 0);
  float* __restrict sums = scratch.data();
  for (int t = 0; t < num_texts(); ++t) {
    const float* __restrict deltas =
        layer.deltas.data() + static_cast<std::size_t>(t) * layer.out;
    for (int i = 0; i < layer.out; ++i) sums[i] += deltas[i];
  }
  optimizers_[l].bias.Update(0, scratch);
}

}  // namespace semrank
