#include "model/train/batches/bag_transpose.h"

#include <cstddef>
#include <numeric>

namespace semrank {

void BagTranspose::CountFeatures(const BagBatch& batch) {
  features_.clear();
  for (const std::uint32_t feature : batch.indices) {
    if (places_[feature]++ == 0) features_.push_back(feature);
  }
}

void BagTranspose::Build(const BagBatch& batch, int num_features) {
  // The vocabulary has one size in a run, so the table grows once.
  if (places_.size() < static_cast<std::size_t>(num_features)) {
    places_.resize(num_features, 0);
  }
  CountFeatures(batch);
  texts_.Clear();
  std::uint32_t place = 0;
  for (const std::uint32_t feature : features_) {
    // A counting sort in the order of first appearance. Only the entries of
    // this batch's features are read and reset: places_ has one for each
    // feature of the vocabulary.
    const std::uint32_t count = places_[feature];
    places_[feature] = place;
    place += count;
    texts_.offsets.push_back(place);
  }
  texts_.indices.resize(place);
  texts_.counts.resize(place);
  for (int text = 0; text < batch.num_texts(); ++text) {
    for (std::uint32_t i = batch.offsets[text]; i < batch.offsets[text + 1];
         ++i) {
      const std::uint32_t entry = places_[batch.indices[i]]++;
      texts_.indices[entry] = static_cast<std::uint32_t>(text);
      texts_.counts[entry] = batch.counts[i];
    }
  }
  for (const std::uint32_t feature : features_) places_[feature] = 0;
}

void TransposeBags(const BagBatch& batch, int num_features,
                   BagBatch& by_feature) {
  // Counts are stored at f + 2, so that after the prefix sum offsets[f + 1] is
  // the first position of feature f. Filling the bags advances it to f's end.
  std::vector<std::uint32_t>& offsets = by_feature.offsets;
  offsets.assign(static_cast<std::size_t>(num_features) + 2, 0);
  for (const std::uint32_t feature : batch.indices) ++offsets[feature + 2];
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  by_feature.indices.resize(batch.indices.size());
  by_feature.counts.resize(batch.indices.size());
  for (int text = 0; text < batch.num_texts(); ++text) {
    for (std::uint32_t i = batch.offsets[text]; i < batch.offsets[text + 1];
         ++i) {
      const std::uint32_t entry = offsets[batch.indices[i] + 1]++;
      by_feature.indices[entry] = static_cast<std::uint32_t>(text);
      by_feature.counts[entry] = batch.counts[i];
    }
  }
  offsets.pop_back();
}

}  // namespace semrank
