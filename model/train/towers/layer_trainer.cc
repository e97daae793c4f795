#include "model/train/towers/layer_trainer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "model/nn/kernels.h"
#include "model/train/towers/training_kernels.h"

namespace semrank {
namespace {

// The number of (feature, text) entries of one task.
constexpr std::uint32_t kTaskEntries = 2048;
// The number of features whose gradients are summed before they are used: the
// sums stay in the first-level cache.
constexpr int kFeatureBlock = 16;
// The number of features whose weights are prefetched: they are scattered over
// memory.
constexpr int kPrefetchFeatures = 8;
// The number of kept rows that one task updates.
constexpr int kUpdateBlock = 128;
// The number of rows of a dense weight that one task updates.
constexpr int kRowBlock = 48;

}  // namespace

void BagLayerTrainer::Forward(const BagBatch& bags, int first, int last,
                              float* outputs) const {
  SumBags(bags, first, last, weights_.weight.data(), width(), outputs);
}

void BagLayerTrainer::AddBias(int num_rows, float* outputs) const {
  semrank::AddBias(weights_.bias.data(), num_rows, weights_.out, outputs);
}

void BagLayerTrainer::TransposeBags(const BagBatch& bags) {
  transpose_.Build(bags, weights_.in / num_places_);
  const std::vector<std::uint32_t>& offsets = transpose_.texts().offsets;
  const int num_features = transpose_.texts().num_texts();
  bounds_.assign(1, 0);
  for (int f = 1; f <= num_features; ++f) {
    // Tasks have about equal numbers of entries, not of features: a frequent
    // trigram occurs in most texts, a rare one in a single text.
    if (f == num_features ||
        offsets[f] - offsets[bounds_.back()] >= kTaskEntries) {
      bounds_.push_back(f);
    }
  }
  if (!optimizer_.keeps_gradients()) return;
  kept_rows_.rows = transpose_.features();
  kept_rows_.values.resize(kept_rows_.rows.size() * width());
}

void BagLayerTrainer::RunUpdateTask(const float* deltas, int task,
                                    std::vector<float>& scratch) {
  const std::size_t row = width();
  const int last = bounds_[task + 1];
  // dW = X^T delta, row by row: row f is the sum of count x delta over the
  // texts that have feature f. In the transposed batch one task owns each row
  // and adds the texts in order, without atomics, and with the same sum for any
  // number of threads.
  if (optimizer_.keeps_gradients()) {
    SumBags(transpose_.texts(), bounds_[task], last, deltas, width(),
            &kept_rows_.values[bounds_[task] * row]);
    return;
  }
  scratch.resize(kFeatureBlock * row);
  for (int begin = bounds_[task]; begin < last; begin += kFeatureBlock) {
    const int end = std::min(last, begin + kFeatureBlock);
    SumBags(transpose_.texts(), begin, end, deltas, width(), scratch.data());
    for (int f = begin; f < end; ++f) {
      if (f + kPrefetchFeatures < last) {
        optimizer_.PrefetchWeight(
            static_cast<int>(transpose_.features()[f + kPrefetchFeatures]),
            width());
      }
      // Each row is used while its sum is in the cache, instead of writing a
      // gradient of the size of W and reading it again.
      optimizer_.UpdateWeight(static_cast<int>(transpose_.features()[f]),
                              std::span(&scratch[(f - begin) * row], row),
                              width());
    }
  }
}

void BagLayerTrainer::UpdateBias(const float* deltas, int num_texts,
                                 std::vector<float>& scratch) {
  optimizer_.UpdateBias(
      [=, this](float* gradient) {
        AddRows(deltas, num_texts, weights_.out, gradient);
      },
      scratch);
}

void BagLayerTrainer::KeepGradients() {
  optimizer_.KeepGradients();
  kept_rows_.width = width();
}

void BagLayerTrainer::AppendGradients(GradientSet& gradients) {
  gradients.sparse.push_back(&kept_rows_);
  gradients.dense.emplace_back(optimizer_.kept_bias());
}

void BagLayerTrainer::AddKeptUpdateTasks(TaskList& tasks) {
  tasks.AddBlocks(static_cast<int>(kept_rows_.rows.size()), kUpdateBlock,
                  [this](int first, int last, int) {
                    const std::size_t row = width();
                    for (int f = first; f < last; ++f) {
                      optimizer_.UpdateWeight(
                          static_cast<int>(kept_rows_.rows[f]),
                          std::span(&kept_rows_.values[f * row], row), width());
                    }
                  });
  tasks.Add(1, [this](int, int) { optimizer_.UpdateKeptBias(); });
}

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
