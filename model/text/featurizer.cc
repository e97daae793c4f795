#include "model/text/featurizer.h"

#include <cstddef>
#include <utility>

#include "model/text/index_set.h"
#include "model/text/normalizer.h"

namespace semrank {
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
  if (ngrams_.has_value()) ngrams_->AppendIndices(normalized, batch.indices);
  if (words_.has_value()) {
    const auto first_word =
        static_cast<std::uint32_t>(ngrams_.has_value() ? ngrams_->size() : 0);
    ForEachWord(normalized, [&](std::string_view word) {
      if (const auto index = words_->Find(word); index.has_value()) {
        batch.indices.push_back(first_word + *index);
      }
    });
  }
  thread_local IndexSet set;
  set.GrowTo(static_cast<std::size_t>(num_features()));
  set.SortAndCount(begin, batch.indices, batch.counts);
  batch.offsets.push_back(static_cast<std::uint32_t>(batch.indices.size()));
}

void Featurizer::AppendWords(std::string_view normalized,
                             WordSequences& batch) const {
  const auto number_of = [&](std::string_view word) {
    const std::uint32_t number = batch.numbers.Intern(word);
    if (number + 1 > static_cast<std::uint32_t>(batch.bags.num_texts())) {
      AppendBag(word, batch.bags);
    }
    return number;
  };
  if (batch.numbers.size() == 0) number_of(kPaddingWord);
  ForEachWord(normalized, [&](std::string_view word) {
    batch.words.push_back(number_of(word));
  });
  batch.offsets.push_back(batch.words.size());
}

}  // namespace semrank
