#include "model/train/bag_layer_trainer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "model/nn/kernels.h"

namespace semrank {
namespace {

// (feature, text) entries of a piece.
constexpr std::uint32_t kPieceEntries = 2048;
// Features whose gradients are summed before they are used: the sums stay in
// the first-level cache.
constexpr int kFeatureBlock = 16;

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
    if (f == num_features ||
        offsets[f] - offsets[bounds_.back()] >= kPieceEntries) {
      bounds_.push_back(f);
    }
  }
}

void BagLayerTrainer::UpdatePiece(const float* deltas, int piece,
                                  std::vector<float>& scratch) {
  const std::size_t row = width();
  scratch.resize(kFeatureBlock * row);
  const int last = bounds_[piece + 1];
  for (int begin = bounds_[piece]; begin < last; begin += kFeatureBlock) {
    const int end = std::min(last, begin + kFeatureBlock);
    SumBags(transpose_.texts(), begin, end, deltas, width(), scratch.data());
    for (int f = begin; f < end; ++f) {
      optimizer_.UpdateWeight(static_cast<int>(transpose_.features()[f]),
                              std::span(&scratch[(f - begin) * row], row),
                              width());
    }
  }
}

void BagLayerTrainer::UpdateBias(const float* deltas, int num_texts,
                                 std::vector<float>& scratch) {
  optimizer_.UpdateBias(deltas, num_texts, weights_.out, scratch);
}

}  // namespace semrank
