// Bags of features, many in one piece of memory.
#ifndef SEMRANK_MODEL_TEXT_BAG_BATCH_H_
#define SEMRANK_MODEL_TEXT_BAG_BATCH_H_

#include <cstdint>
#include <vector>

namespace semrank {

// The bags of several texts, one after another: bag i is the entries
// [offsets[i], offsets[i + 1]) of indices and counts.
struct BagBatch {
  std::vector<std::uint32_t> offsets = {0};  // num_texts + 1 values
  std::vector<std::uint32_t> indices;
  std::vector<float> counts;

  int num_texts() const { return static_cast<int>(offsets.size()) - 1; }
  bool empty(int i) const { return offsets[i] == offsets[i + 1]; }
  // Empties the batch and keeps its memory.
  void Clear() {
    offsets.assign(1, 0);
    indices.clear();
    counts.clear();
  }
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_BAG_BATCH_H_
