#include "model/eval/rankers/list_ranker.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/text/vocabulary_builder.h"

namespace semrank {
namespace {

// The number of `documents` that have each feature.
std::vector<std::uint32_t> DocumentFrequencies(std::size_t num_features,
                                               const BagBatch& documents) {
  std::vector<std::uint32_t> frequencies(num_features);
  for (const std::uint32_t feature : documents.indices) ++frequencies[feature];
  return frequencies;
}

}  // namespace

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

absl::StatusOr<Featurizer> WordFeatures(
    std::string_view ranker, const std::vector<std::string>& documents) {
  VocabularyBuilder builder;
  for (const std::string& document : documents) builder.AddText(document);
  if (builder.num_distinct_words() == 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: no document has a word", ranker));
  }
  // All words, also those of one document: a rare word is what finds a
  // document best.
  SEMRANK_ASSIGN_OR_RETURN(WordVocabulary words,
                           WordVocabulary::FromList(builder.Words(0, 1)));
  return Featurizer::Create(std::nullopt, std::move(words));
}

float LengthInWords(std::string_view text) {
  if (text.empty()) return 0;
  const auto num_separators =
      std::ranges::count(text, ' ') + std::ranges::count(text, kFurtherWords);
  return static_cast<float>(1 + num_separators);
}

std::vector<float> LengthsInWords(const std::vector<std::string>& documents) {
  std::vector<float> lengths(documents.size());
  std::ranges::transform(documents, lengths.begin(), LengthInWords);
  return lengths;
}

void ListRanker::ScoreAll(std::span<const std::string_view> queries,
                          float* scores) const {
  std::fill_n(scores, queries.size() * num_documents_, 0.0f);
  for (const std::string_view query : queries) {
    ScoreQuery(query, scores);
    scores += num_documents_;
  }
}

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
