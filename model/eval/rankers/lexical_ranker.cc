#include "model/eval/rankers/lexical_ranker.h"

#include <utility>

namespace semrank {

LexicalRanker::LexicalRanker(Featurizer featurizer,
                             const std::vector<std::string>& documents)
    : ListRanker(documents.size()), featurizer_(std::move(featurizer)) {
  for (const std::string& document : documents) {
    featurizer_.AppendBag(document, documents_);
  }
  // This is n of the idf; BuildIndex will replace the counts of the bags
  // by weights.
  document_frequencies_ =
      DocumentFrequencies(featurizer_.num_features(), documents_);
}

BagBatch LexicalRanker::BuildIndex(
    const std::function<void(Bag)>& weigh_document) {
  for (int d = 0; d < documents_.num_texts(); ++d) {
    weigh_document({documents_.Indices(d), documents_.Counts(d)});
  }
  lists_ = InvertedLists(featurizer_.num_features(), documents_);
  // The lists now have the weights, and most rankers drop the bags.
  return std::exchange(documents_, {});
}

void LexicalRanker::AddScores(std::span<const std::uint32_t> features,
                              std::span<const float> weights,
                              float* scores) const {
  for (std::size_t i = 0; i < features.size(); ++i) {
    lists_.AddScaled(features[i], weights[i], scores);
  }
}

void LexicalRanker::ScoreQuery(std::string_view query, float* scores) const {
  BagBatch bag;
  featurizer_.AppendBag(query, bag);
  WeighQuery({bag.indices, bag.counts});
  AddScores(bag.indices, bag.counts, scores);
}

}  // namespace semrank
