#include "model/text/featurizer.h"

#include <cstddef>
#include <utility>

#include "model/text/index_set.h"

namespace semrank {
absl::StatusOr<Featurizer> Featurizer::Create(
    std::optional<NgramVocabulary> ngrams, std::optional<WordVocabulary> words,
    std::optional<WordVocabulary> bigrams, int normalizer_version) {
  if (!ngrams.has_value() && !words.has_value() && !bigrams.has_value()) {
    return absl::InvalidArgumentError(
        "a featurizer needs letter n-grams, words or bigrams; it got none");
  }
  return Featurizer(std::move(ngrams), std::move(words), std::move(bigrams),
                    normalizer_version);
}

int Featurizer::num_features() const {
  return static_cast<int>(first_bigram()) + (bigrams_ ? bigrams_->size() : 0);
}

// A word that is not listed adds nothing. If the model has letter n-grams,
// those still represent it (DSSM 3.2).
std::optional<std::uint32_t> Featurizer::FindWord(const TextWord& word) const {
  if (!words_.has_value()) return std::nullopt;
  const std::optional<std::uint32_t> index = words_->Find(word.word, word.key);
  if (!index.has_value()) return std::nullopt;
  return first_word() + *index;
}

void Featurizer::AppendWordFeatures(const TextWord& word,
                                    std::vector<std::uint32_t>& indices) const {
  if (ngrams_.has_value()) ngrams_->AppendIndices(word.word, indices);
  const std::optional<std::uint32_t> index = FindWord(word);
  if (index.has_value()) indices.push_back(*index);
}

void Featurizer::AppendBag(std::string_view normalized, BagBatch& batch) const {
  const std::size_t begin = batch.indices.size();
  if (ngrams_.has_value()) ngrams_->AppendIndices(normalized, batch.indices);
  if (words_.has_value() || bigrams_.has_value()) {
    thread_local std::vector<TextWord> words;
    words.clear();
    AppendTextWords(normalized, words);
    for (const TextWord& word : words) {
      for (const auto index : {FindWord(word), FindBigram(word)}) {
        if (index.has_value()) batch.indices.push_back(*index);
      }
    }
  }
  // Many threads call this at once, and the bitmap is too large to allocate for
  // each text. The set of a thread is empty between calls and never shrinks, so
  // featurizers of different sizes can share it.
  thread_local IndexSet set;
  set.GrowTo(static_cast<std::size_t>(num_features()));
  set.SortAndCount(begin, batch.indices, batch.counts);
  batch.EndBag();
}

void Featurizer::AppendWords(std::string_view normalized,
                             WordSequences& batch) const {
  const auto number_of = [&](std::string_view word) {
    const std::uint32_t number = batch.numbers.Intern(word);
    // Words are numbered in order of first appearance, and each new one gets
    // its bag at once. So a number without a bag is new. One word has no
    // bigram, hence the bag has none either.
    if (number + 1 > static_cast<std::uint32_t>(batch.bags.num_texts())) {
      AppendBag(word, batch.bags);
    }
    return number;
  };
  // The padding is word 0 of every batch, which saves towers a look-up.
  if (batch.numbers.size() == 0) number_of(kPaddingWord);
  ForEachWord(normalized, [&](std::string_view word) {
    batch.words.push_back(number_of(word));
  });
  batch.offsets.push_back(batch.words.size());
}

}  // namespace semrank
