#include "model/text/featurizer.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "model/text/normalizer.h"

namespace semrank {
namespace {

// Sorts the entries from `begin` on and merges equal ones into counts.
void SortAndCount(std::size_t begin, BagBatch& batch) {
  std::vector<std::uint32_t>& indices = batch.indices;
  std::sort(indices.begin() + static_cast<std::ptrdiff_t>(begin),
            indices.end());
  batch.counts.resize(indices.size());
  std::size_t out = begin;
  for (std::size_t i = begin; i < indices.size();) {
    std::size_t end = i + 1;
    while (end < indices.size() && indices[end] == indices[i]) ++end;
    indices[out] = indices[i];
    batch.counts[out] = static_cast<float>(end - i);
    ++out;
    i = end;
  }
  indices.resize(out);
  batch.counts.resize(out);
}

}  // namespace

absl::StatusOr<Featurizer> Featurizer::Create(
    std::optional<NgramVocabulary> ngrams,
    std::optional<WordVocabulary> words) {
  if (!ngrams.has_value() && !words.has_value()) {
    return absl::InvalidArgumentError(
        "a featurizer needs letter n-grams, words or both; it got neither");
  }
  return Featurizer(std::move(ngrams), std::move(words));
}

int Featurizer::num_features() const {
  return (ngrams_.has_value() ? ngrams_->size() : 0) +
         (words_.has_value() ? words_->size() : 0);
}

void Featurizer::AppendBag(std::string_view normalized, BagBatch& batch) const {
  const std::size_t begin = batch.indices.size();
  const std::uint32_t first_word =
      ngrams_.has_value() ? static_cast<std::uint32_t>(ngrams_->size()) : 0;
  ForEachWord(normalized, [&](std::string_view word) {
    if (ngrams_.has_value()) ngrams_->AppendIndices(word, batch.indices);
    if (!words_.has_value()) return;
    if (const auto index = words_->Find(word); index.has_value()) {
      batch.indices.push_back(first_word + *index);
    }
  });
  SortAndCount(begin, batch);
  batch.offsets.push_back(static_cast<std::uint32_t>(batch.indices.size()));
}

}  // namespace semrank
