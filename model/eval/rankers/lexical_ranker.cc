#include "model/eval/rankers/lexical_ranker.h"

#include <algorithm>
#include <utility>

namespace semrank {

LexicalRanker::LexicalRanker(Featurizer featurizer,
                             const std::vector<std::string>& documents)
    : featurizer_(std::move(featurizer)), num_documents_(documents.size()) {
  for (const std::string& document : documents) {
    featurizer_.AppendBag(document, documents_);
  }
  // n of the idf. Counted before the counts of the bags are replaced by
  // weights.
  document_frequencies_ =
      DocumentFrequencies(featurizer_.num_features(), documents_);
}

BagBatch LexicalRanker::BuildIndex(
    const std::function<void(Bag)>& weigh_document) {
  for (int d = 0; d < documents_.num_texts(); ++d) {
    const std::size_t begin = documents_.offsets[d];
    const std::size_t size = documents_.offsets[d + 1] - begin;
    weigh_document({std::span(documents_.indices).subspan(begin, size),
                    std::span(documents_.counts).subspan(begin, size)});
  }
  lists_ = InvertedLists(featurizer_.num_features(), documents_);
  // The lists have the weights from here on; most rankers drop the bags.
  return std::exchange(documents_, {});
}

void LexicalRanker::WeighedQuery(std::string_view query, BagBatch& bag) const {
  bag.Clear();
  featurizer_.AppendBag(query, bag);
  WeighQuery({bag.indices, bag.counts});
}

void LexicalRanker::AddScores(std::span<const std::uint32_t> features,
                              std::span<const float> weights,
                              float* scores) const {
  for (std::size_t i = 0; i < features.size(); ++i) {
    lists_.AddScaled(features[i], weights[i], scores);
  }
}

void LexicalRanker::ScoreAll(std::span<const std::string_view> queries,
                             float* scores) const {
  std::fill_n(scores, queries.size() * num_documents_, 0.0f);
  BagBatch bag;
  for (const std::string_view query : queries) {
    WeighedQuery(query, bag);
    AddScores(bag.indices, bag.counts, scores);
    scores += num_documents_;
  }
}

}  // namespace semrank
