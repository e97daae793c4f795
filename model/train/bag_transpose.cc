#include "model/train/bag_transpose.h"

#include <cstddef>

namespace semrank {

void BagTranspose::CountFeatures(const BagBatch& batch) {
  features_.clear();
  for (const std::uint32_t feature : batch.indices) {
    if (places_[feature]++ == 0) features_.push_back(feature);
  }
}

void BagTranspose::Build(const BagBatch& batch, int num_features) {
  if (places_.size() < static_cast<std::size_t>(num_features)) {
    places_.resize(num_features, 0);
  }
  CountFeatures(batch);
  texts_.Clear();
  std::uint32_t place = 0;
  for (const std::uint32_t feature : features_) {
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

}  // namespace semrank
