#include "model/train/towers/bag_layer_trainer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "model/nn/kernels.h"
#include "model/train/towers/gradient_kernels.h"

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

}  // namespace semrank
