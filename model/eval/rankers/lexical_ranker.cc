#include "model/eval/rankers/lexical_ranker.h"

#include <algorithm>
#include <utility>

namespace semrank {

// First pass: offsets_[f + 1] counts the documents of feature f, then prefix
// sums turn the counts into offsets. BuildIndex is the second pass.
LexicalRanker::LexicalRanker(Featurizer featurizer,
                             const std::vector<std::string>& documents)
    : featurizer_(std::move(featurizer)),
      num_documents_(documents.size()),
      offsets_(static_cast<std::size_t>(featurizer_.num_features()) + 1) {
  BagBatch bag;
  for (const std::string& document : documents) {
    bag.Clear();
    featurizer_.AppendBag(document, bag);
    for (const std::uint32_t feature : bag.indices) ++offsets_[feature + 1];
  }
  for (std::size_t f = 1; f < offsets_.size(); ++f) {
    offsets_[f] += offsets_[f - 1];
  }
}

void LexicalRanker::BuildIndex(const std::vector<std::string>& documents,
                               const std::function<void(Bag)>& weigh_document) {
  postings_.resize(offsets_.back());
  std::vector<std::size_t> next(offsets_.begin(), offsets_.end() - 1);
  BagBatch bag;
  for (std::size_t d = 0; d < documents.size(); ++d) {
    bag.Clear();
    featurizer_.AppendBag(documents[d], bag);
    weigh_document({bag.indices, bag.counts});
    for (std::size_t i = 0; i < bag.indices.size(); ++i) {
      postings_[next[bag.indices[i]]++] = {static_cast<std::uint32_t>(d),
                                           bag.counts[i]};
    }
  }
}

void LexicalRanker::ScoreAll(std::span<const std::string_view> queries,
                             float* scores) const {
  std::fill_n(scores, queries.size() * num_documents_, 0.0f);
  BagBatch bag;
  for (const std::string_view query : queries) {
    bag.Clear();
    featurizer_.AppendBag(query, bag);
    WeighQuery({bag.indices, bag.counts});
    for (std::size_t i = 0; i < bag.indices.size(); ++i) {
      const std::size_t feature = bag.indices[i];
      const float weight = bag.counts[i];
      for (std::size_t p = offsets_[feature]; p < offsets_[feature + 1]; ++p) {
        scores[postings_[p].document] += weight * postings_[p].weight;
      }
    }
    scores += num_documents_;
  }
}

}  // namespace semrank
