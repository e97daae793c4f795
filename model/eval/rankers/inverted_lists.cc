#include "model/eval/rankers/inverted_lists.h"

namespace semrank {

std::vector<std::uint32_t> DocumentFrequencies(std::size_t num_features,
                                               const BagBatch& documents) {
  std::vector<std::uint32_t> frequencies(num_features);
  for (const std::uint32_t feature : documents.indices) ++frequencies[feature];
  return frequencies;
}

InvertedLists::InvertedLists(std::size_t num_features,
                             const BagBatch& documents)
    : offsets_(num_features + 1), postings_(documents.indices.size()) {
  const std::vector<std::uint32_t> lengths =
      DocumentFrequencies(num_features, documents);
  for (std::size_t f = 0; f < num_features; ++f) {
    offsets_[f + 1] = offsets_[f] + lengths[f];
  }
  // A counting sort by feature. As documents are visited in order, each list is
  // in ascending order.
  std::vector<std::size_t> next(offsets_.begin(), offsets_.end() - 1);
  for (int d = 0; d < documents.num_texts(); ++d) {
    const BagView bag = documents.Bag(d);
    for (std::size_t i = 0; i < bag.indices.size(); ++i) {
      postings_[next[bag.indices[i]]++] = {static_cast<std::uint32_t>(d),
                                           bag.counts[i]};
    }
  }
}

void InvertedLists::AddScaled(std::uint32_t feature, float factor,
                              float* scores) const {
  for (const Posting& posting : Of(feature)) {
    scores[posting.document] += factor * posting.weight;
  }
}

}  // namespace semrank
