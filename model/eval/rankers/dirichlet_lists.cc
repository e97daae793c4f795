#include "model/eval/rankers/dirichlet_lists.h"

#include <cmath>
#include <numeric>

namespace semrank {

DirichletLists::DirichletLists(std::size_t num_features, BagBatch documents,
                               const std::vector<float>& lengths, double mu) {
  std::vector<double> collection_counts(num_features);
  for (std::size_t i = 0; i < documents.indices.size(); ++i) {
    collection_counts[documents.indices[i]] += documents.counts[i];
  }
  const double total = std::accumulate(lengths.begin(), lengths.end(), 0.0);
  for (std::size_t i = 0; i < documents.indices.size(); ++i) {
    // log [(tf + mu P) / ((|D| + mu) P)]
    //   = log(1 + tf / (mu P)) + log(mu / (|D| + mu))
    // The first term is 0 for documents without the feature, so inverted lists
    // hold it. The second is the same for all features of a document.
    const double background = collection_counts[documents.indices[i]] / total;
    documents.counts[i] =
        static_cast<float>(std::log1p(documents.counts[i] / (mu * background)));
  }
  lists_ = InvertedLists(num_features, documents);
  for (const float length : lengths) {
    // log1p is exact for a tiny |D| / mu: mu may be a million.
    length_terms_.push_back(static_cast<float>(-std::log1p(length / mu)));
  }
}

void DirichletLists::AddScores(std::span<const std::uint32_t> features,
                               std::span<const float> counts, float weight,
                               float* scores) const {
  float num_features = 0;
  for (std::size_t i = 0; i < features.size(); ++i) {
    lists_.AddScaled(features[i], weight * counts[i], scores);
    num_features += counts[i];
  }
  if (num_features == 0) return;
  const float factor = weight * num_features;
  for (std::size_t d = 0; d < length_terms_.size(); ++d) {
    scores[d] += factor * length_terms_[d];
  }
}

}  // namespace semrank
