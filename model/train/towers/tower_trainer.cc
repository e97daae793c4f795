#include "model/train/towers/tower_trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/nn/kernels.h"

namespace semrank {
namespace {

// The number of texts, and of rows of a dense weight, of one task: whole tiles
// of the products, and few enough that no thread waits long for the last task.
constexpr int kTextBlock = 96;
constexpr int kWeightRowBlock = 48;

float* Row(std::vector<float>& data, int row, int width) {
  return data.data() + static_cast<std::size_t>(row) * width;
}

}  // namespace

TowerTrainer::TowerTrainer(TowerWeights weights,
                           const TowerTrainerOptions& options)
    : weights_(std::move(weights)),
      options_(options),
      input_layer_(MakeInputLayerTrainer(
          weights_.layers.front(), options.optimizer, options.clsm_window)),
      scratch_(options.num_workers),
      dropout_(options.dropout, options.seed) {
  for (std::size_t l = 0; l < weights_.layers.size(); ++l) {
    LayerWeights& layer = weights_.layers[l];
    // Layer 0 reads the features of texts; input_layer_ trains it.
    if (l > 0) dense_layers_.emplace_back(layer, options.optimizer);
    outputs_.emplace_back().width = layer.out;
  }
  if (!options.keep_gradients) return;
  input_layer_->bag_layer().KeepGradients();
  for (DenseLayerTrainer& layer : dense_layers_) layer.KeepGradients();
}

LayerOptimizer& TowerTrainer::optimizer(std::size_t layer) {
  return layer == 0 ? input_layer_->bag_layer().optimizer()
                    : dense_layers_[layer - 1].optimizer();
}

void TowerTrainer::AppendState(std::string_view side,
                               std::vector<StateTensor>& state) {
  for (std::size_t l = 0; l < outputs_.size(); ++l) {
    optimizer(l).AppendState(absl::StrFormat("%s.%d", side, l), state);
  }
}

void TowerTrainer::Restored(std::int64_t num_steps) {
  for (std::size_t l = 0; l < outputs_.size(); ++l) {
    optimizer(l).set_num_steps(num_steps);
  }
  // The weights were overwritten, but not their packed copies.
  weights_packed_ = false;
}

// Hidden layers are tanh in both papers; the linear tower differs in its
// output.
bool TowerTrainer::IsTanh(std::size_t layer) const {
  return layer + 1 < outputs_.size() ||
         options_.output_activation == Activation::kTanh;
}

absl::Status TowerTrainer::SetTexts(const TextBags& texts,
                                    std::span<const TextId> ids) {
  SEMRANK_RETURN_IF_ERROR(input_layer_->SetTexts(texts, ids));
  num_texts_ = static_cast<int>(ids.size());
  for (std::size_t l = 0; l < outputs_.size(); ++l) {
    LayerOutput& output = outputs_[l];
    const std::size_t size = ids.size() * output.width;
    output.activations.resize(size);
    if (IsDropped(l)) output.kept.resize(size);
  }
  // Buffers only grow, so a step allocates nothing once the largest mini-batch
  // was seen.
  for (DenseLayerTrainer& layer : dense_layers_) {
    layer.BeginBackward(num_texts_);
  }
  input_deltas_.resize(ids.size() * outputs_[0].width);
  norms_.resize(ids.size());
  vectors_.resize(ids.size() * embedding_dim());
  vector_gradients_.resize(vectors_.size());
  return absl::OkStatus();
}

void TowerTrainer::SetDropoutStream(std::int64_t step,
                                    std::span<const std::uint32_t> places) {
  dropout_.SetStep(step);
  places_ = places;
}

void TowerTrainer::AddPrepareTasks(TaskList& tasks) {
  if (!weights_packed_) {
    tasks.Add(static_cast<int>(dense_layers_.size()),
              [this](int layer, int) { dense_layers_[layer].PackWeights(); });
    weights_packed_ = true;
  }
  input_layer_->AddPrepareTasks(tasks);
}

void TowerTrainer::AddForwardTasks(Range texts, bool learn, TaskList& tasks) {
  tasks.AddBlocks(texts.size(), kTextBlock,
                  [this, begin = texts.first, learn](int first, int last, int) {
                    Forward(begin + first, begin + last, learn);
                  });
}

// Eq. 3-5 for texts [first, last).
void TowerTrainer::Forward(int first, int last, bool learn) {
  const float* inputs = nullptr;
  for (std::size_t l = 0; l < outputs_.size(); ++l) {
    const int width = outputs_[l].width;
    float* outputs = Row(outputs_[l].activations, first, width);
    if (l == 0) {
      input_layer_->Forward(first, last, learn, outputs);
    } else {
      dense_layers_[l - 1].Forward(inputs, last - first, outputs);
    }
    if (IsTanh(l)) {
      Tanh(outputs, static_cast<std::size_t>(last - first) * width);
    }
    if (learn && IsDropped(l)) DropUnits(l, first, last);
    inputs = outputs;
  }
  float* vectors = Row(vectors_, first, embedding_dim());
  // The output is copied: the backward pass needs y beside v = y / |y|.
  std::copy_n(inputs, static_cast<std::size_t>(last - first) * embedding_dim(),
              vectors);
  NormalizeRows(last - first, embedding_dim(), vectors, &norms_[first]);
  for (int t = first; t < last; ++t) CheckVector(t);
}

void TowerTrainer::DropUnits(std::size_t layer, int first, int last) {
  LayerOutput& output = outputs_[layer];
  const std::size_t width = output.width;
  for (int t = first; t < last; ++t) {
    dropout_.Apply({places_[t], static_cast<int>(layer)},
                   std::span(output.activations).subspan(t * width, width),
                   std::span(output.kept).subspan(t * width, width));
  }
}

void TowerTrainer::CheckVector(int t) {
  const int dim = embedding_dim();
  float* vector = Row(vectors_, t, dim);
  if (!input_layer_->HasFeatures(t)) {
    // A text without features has no vector, whatever the biases say.
    std::fill_n(vector, dim, 0.0f);
    norms_[t] = 0;
  } else if (norms_[t] == 0) {
    // NormalizeRows hides an output that is not a number; training must not.
    const float* output = Row(outputs_.back().activations, t, dim);
    if (!std::all_of(output, output + dim,
                     [](float y) { return std::isfinite(y); })) {
      std::fill_n(vector, dim, std::numeric_limits<float>::quiet_NaN());
    }
  }
}

void TowerTrainer::AddTransposeTasks(TaskList& tasks) {
  input_layer_->AddTransposeTasks(tasks);
}

void TowerTrainer::AddBackwardTasks(Range texts, TaskList& tasks) {
  tasks.AddBlocks(texts.size(), kTextBlock,
                  [this, begin = texts.first](int first, int last, int worker) {
                    Backward(begin + first, begin + last, scratch_[worker]);
                  });
}

void TowerTrainer::Backward(int first, int last, std::vector<float>& scratch) {
  const int num_rows = last - first;
  int widest = 0;
  for (const LayerOutput& output : outputs_) {
    widest = std::max(widest, output.width);
  }
  // Eq. 17 needs the deltas of two neighbouring layers at a time; those of
  // layer 0 are kept for its update.
  const std::size_t half = static_cast<std::size_t>(num_rows) * widest;
  scratch.resize(2 * half);
  const auto deltas_of = [&](std::size_t layer) {
    return layer == 0 ? Row(input_deltas_, first, outputs_[0].width)
                      : &scratch[layer % 2 * half];
  };
  std::size_t l = outputs_.size() - 1;
  BackwardOutput(first, last, deltas_of(l));
  for (; l > 0; --l) {
    DenseLayerTrainer& layer = dense_layers_[l - 1];
    layer.PackDeltas(deltas_of(l), first, last);
    layer.Backward(deltas_of(l), num_rows, deltas_of(l - 1));
    BackwardActivation(l - 1, first, last, deltas_of(l - 1));
  }
}

// Eq. 16: through v = y / |y|, dloss/dy = (g - (g . v) v) / |y|.
void TowerTrainer::BackwardOutput(int first, int last, float* deltas) {
  const int dim = embedding_dim();
  for (int t = first; t < last; ++t) {
    const float* vector = Row(vectors_, t, dim);
    const float* gradient = Row(vector_gradients_, t, dim);
    float* row = deltas + static_cast<std::size_t>(t - first) * dim;
    // NormalizeRows makes a vector below this norm zero: without a direction it
    // has no gradient.
    const float inverse = norms_[t] < 1e-12f ? 0 : 1 / norms_[t];
    const float along = Dot(gradient, vector, dim);
    for (int i = 0; i < dim; ++i) {
      row[i] = (gradient[i] - along * vector[i]) * inverse;
    }
  }
  const std::size_t output = outputs_.size() - 1;
  if (IsTanh(output)) BackwardActivation(output, first, last, deltas);
}

// Backpropagates through the activation function and dropout of texts [first,
// last).
void TowerTrainer::BackwardActivation(std::size_t layer, int first, int last,
                                      float* deltas) {
  LayerOutput& output = outputs_[layer];
  const std::size_t begin = static_cast<std::size_t>(first) * output.width;
  const std::size_t count =
      static_cast<std::size_t>(last - first) * output.width;
  if (IsDropped(layer)) {
    dropout_.BackwardThroughTanh(
        std::span(output.activations).subspan(begin, count),
        std::span(output.kept).subspan(begin, count), {deltas, count});
  } else {
    MultiplyTanhDerivative(&output.activations[begin], count, deltas);
  }
}

void TowerTrainer::AddPackTasks(TaskList& tasks) {
  input_layer_->AddPackTasks(input_deltas_.data(), tasks);
}

void TowerTrainer::AddUpdateTasks(double learning_rate, TaskList& tasks) {
  // Dense layer d reads the activations of outputs_[d], because outputs_[0]
  // belongs to the input layer.
  for (std::size_t d = dense_layers_.size(); d-- > 0;) {
    DenseLayerTrainer& layer = dense_layers_[d];
    layer.BeginStep(learning_rate);
    tasks.AddBlocks(outputs_[d].width, kWeightRowBlock,
                    [this, d, &layer](int first, int last, int worker) {
                      layer.UpdateRows(outputs_[d].activations.data(), first,
                                       last, scratch_[worker]);
                    });
    tasks.Add(1, [this, &layer](int, int worker) {
      layer.UpdateBias(scratch_[worker]);
    });
  }
  input_layer_->AddUpdateTasks(learning_rate, input_deltas_.data(), scratch_,
                               tasks);
}

void TowerTrainer::AppendGradients(GradientSet& gradients) {
  input_layer_->bag_layer().AppendGradients(gradients);
  for (DenseLayerTrainer& layer : dense_layers_) {
    layer.AppendGradients(gradients);
  }
}

void TowerTrainer::AddKeptUpdateTasks(TaskList& tasks) {
  for (DenseLayerTrainer& layer : dense_layers_) {
    layer.AddKeptUpdateTasks(tasks);
  }
  input_layer_->bag_layer().AddKeptUpdateTasks(tasks);
}

}  // namespace semrank
