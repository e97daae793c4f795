// The transpose of a mini-batch's bags (CSR to CSC): for each feature that
// occurs, the texts that have it. The gradient of a feature's weights is the
// sum over these texts, so one thread can compute it in a fixed order and
// update the weights at once, without atomics and without waiting for other
// threads.
#ifndef SEMRANK_MODEL_TRAIN_BATCHES_BAG_TRANSPOSE_H_
#define SEMRANK_MODEL_TRAIN_BATCHES_BAG_TRANSPOSE_H_

#include <cstdint>
#include <vector>

#include "model/text/bag_batch.h"

namespace semrank {

class BagTranspose {
 public:
  // Features are below num_features. Cost: two passes over the batch, once
  // the memory has grown, whatever the number of features.
  void Build(const BagBatch& batch, int num_features);

  // The distinct features of the batch, in order of first appearance.
  const std::vector<std::uint32_t>& features() const { return features_; }
  // Bag f holds (text, count) for each text with features()[f], in ascending
  // order of texts.
  const BagBatch& texts() const { return texts_; }

 private:
  void CountFeatures(const BagBatch& batch);

  // For each feature, while counting, the number of texts that have it; then
  // the position of the next one. All are 0 between calls.
  std::vector<std::uint32_t> places_;
  std::vector<std::uint32_t> features_;
  BagBatch texts_;
};

// As BagTranspose, but with a bag for each feature below num_features, in their
// order: for batches in which nearly all features occur.
void TransposeBags(const BagBatch& batch, int num_features,
                   BagBatch& by_feature);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_BATCHES_BAG_TRANSPOSE_H_
