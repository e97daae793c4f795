// The bags of features of many texts in contiguous memory (compressed sparse
// rows).
#ifndef SEMRANK_MODEL_TEXT_BAG_BATCH_H_
#define SEMRANK_MODEL_TEXT_BAG_BATCH_H_

#include <cstdint>
#include <vector>

namespace semrank {

// Bag i is the entries [offsets[i], offsets[i + 1]) of indices and counts.
// Several threads may fill or read disjoint bags once the offsets are set.
struct BagBatch {
  std::vector<std::uint32_t> offsets = {0};  // num_texts() + 1 elements
  std::vector<std::uint32_t> indices;
  std::vector<float> counts;

  int num_texts() const { return static_cast<int>(offsets.size()) - 1; }
  bool empty(int i) const { return offsets[i] == offsets[i + 1]; }
  // Removes all bags; keeps the memory.
  void Clear() {
    offsets.assign(1, 0);
    indices.clear();
    counts.clear();
  }
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_BAG_BATCH_H_
