#include "model/train/towers/dense_layer_trainer.h"

#include <cstddef>

namespace semrank {
namespace {

// The number of rows of the weight of one task.
constexpr int kRowBlock = 48;

}  // namespace

StridedMatrix DenseLayerTrainer::WeightRows(int first, int last) const {
  return {&weights_.weight[static_cast<std::size_t>(first) * weights_.out],
          last - first, weights_.out, weights_.out, 1};
}

void DenseLayerTrainer::PackWeights() {
  const StridedMatrix weight = WeightRows(0, weights_.in);
  packed_weight_.Pack(weight);
  packed_transposed_.Pack(weight.Transposed());
}

void DenseLayerTrainer::Forward(const float* inputs, int num_rows,
                                float* outputs) const {
  Multiply({inputs, num_rows, weights_.in, weights_.in, 1}, packed_weight_,
           {.bias = weights_.bias.data()}, outputs, weights_.out);
}

void DenseLayerTrainer::Backward(const float* deltas, int num_rows,
                                 float* input_gradients) const {
  Multiply({deltas, num_rows, weights_.out, weights_.out, 1},
           packed_transposed_, {}, input_gradients, weights_.in);
}

void DenseLayerTrainer::BeginBackward(int num_texts) {
  packed_deltas_.Resize(num_texts, weights_.out);
}

void DenseLayerTrainer::PackDeltas(const float* deltas, int first, int last) {
  packed_deltas_.PackRows({deltas, last - first, weights_.out, weights_.out, 1},
                          first);
}

void DenseLayerTrainer::UpdateRows(const float* inputs, int first, int last,
                                   std::vector<float>& scratch) {
  // Rows [first, last) of X^T are columns of X, read by other strides without a
  // copy.
  const StridedMatrix transposed = {inputs + first, last - first,
                                    packed_deltas_.depth(), 1, weights_.in};
  if (optimizer_.keeps_gradients()) {
    float* kept = &kept_weight_[static_cast<std::size_t>(first) * weights_.out];
    Multiply(transposed, packed_deltas_, {}, kept, weights_.out);
    return;
  }
  scratch.resize(static_cast<std::size_t>(last - first) * weights_.out);
  Multiply(transposed, packed_deltas_, {}, scratch.data(), weights_.out);
  UpdateWeightRows(first, last, scratch);
}

void DenseLayerTrainer::UpdateWeightRows(int first, int last,
                                         std::span<const float> gradient) {
  optimizer_.UpdateWeight(first, gradient, weights_.out);
  // Both copies follow the weight at once, so the next step needs no stage for
  // packing. Updates run after every Backward of the step, which reads the old
  // copies.
  const StridedMatrix rows = WeightRows(first, last);
  packed_weight_.PackRows(rows, first);
  packed_transposed_.PackColumns(rows.Transposed(), first);
}

void DenseLayerTrainer::KeepGradients() {
  optimizer_.KeepGradients();
  kept_weight_.resize(weights_.weight.size());
}

void DenseLayerTrainer::AppendGradients(GradientSet& gradients) {
  gradients.dense.emplace_back(kept_weight_);
  gradients.dense.emplace_back(optimizer_.kept_bias());
}

void DenseLayerTrainer::AddKeptUpdateTasks(TaskList& tasks) {
  tasks.AddBlocks(weights_.in, kRowBlock, [this](int first, int last, int) {
    const std::size_t width = weights_.out;
    UpdateWeightRows(
        first, last,
        std::span(kept_weight_).subspan(first * width, (last - first) * width));
  });
  tasks.Add(1, [this](int, int) { optimizer_.UpdateKeptBias(); });
}

void DenseLayerTrainer::UpdateBias(std::vector<float>& scratch) {
  optimizer_.UpdateBias(
      [this](float* gradient) {
        // The sum of the deltas is their product with a row of ones.
        static constexpr float kOne = 1;
        Multiply({&kOne, 1, packed_deltas_.depth(), 0, 0}, packed_deltas_, {},
                 gradient, weights_.out);
      },
      scratch);
}

}  // namespace semrank
