// The bags of features of many texts in contiguous memory (compressed sparse
// rows).
#ifndef SEMRANK_MODEL_TEXT_BAG_BATCH_H_
#define SEMRANK_MODEL_TEXT_BAG_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace semrank {

// One bag of a batch, valid until the batch changes.
struct BagView {
  std::span<const std::uint32_t> indices;
  std::span<const float> counts;
};

// Bag i is the entries [offsets[i], offsets[i + 1]) of indices and counts.
// Several threads may fill or read disjoint bags once the offsets are set.
struct BagBatch {
  std::vector<std::uint32_t> offsets = {0};  // num_texts() + 1 elements
  std::vector<std::uint32_t> indices;
  std::vector<float> counts;

  int num_texts() const { return static_cast<int>(offsets.size()) - 1; }
  bool empty(int i) const { return offsets[i] == offsets[i + 1]; }
  std::size_t size(int i) const { return offsets[i + 1] - offsets[i]; }
  std::span<const std::uint32_t> Indices(int i) const {
    return {indices.data() + offsets[i], size(i)};
  }
  std::span<float> Counts(int i) {
    return {counts.data() + offsets[i], size(i)};
  }
  BagView Bag(int i) const {
    return {Indices(i), {counts.data() + offsets[i], size(i)}};
  }
  // What was appended to `indices` since the last bag is one.
  void EndBag() {
    offsets.push_back(static_cast<std::uint32_t>(indices.size()));
  }
  // Removes all bags; keeps the memory.
  void Clear() {
    offsets.assign(1, 0);
    indices.clear();
    counts.clear();
  }
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_BAG_BATCH_H_
