// One bag of a batch as a map from feature to count.
#ifndef SEMRANK_TESTS_MODEL_TEXT_BAG_OF_H_
#define SEMRANK_TESTS_MODEL_TEXT_BAG_OF_H_

#include <cstdint>
#include <map>

#include "model/text/bag_batch.h"

namespace semrank {

using Bag = std::map<std::uint32_t, float>;

inline Bag BagOf(const BagBatch& batch, int i) {
  Bag bag;
  for (std::uint32_t k = batch.offsets[i]; k < batch.offsets[i + 1]; ++k) {
    bag[batch.indices[k]] = batch.counts[k];
  }
  return bag;
}

}  // namespace semrank

#endif  // SEMRANK_TESTS_MODEL_TEXT_BAG_OF_H_
