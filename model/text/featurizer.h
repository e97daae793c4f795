// Normalised texts to bags of features, the input x of a tower (DSSM eq. 3,
// l1 = W1 x): counts of letter n-grams, of words, of ordered word bigrams, or
// of several of these. Features are numbered consecutively: n-grams, words,
// bigrams.
//
//   Bag      (index, count) pairs in ascending order of index, each index once,
//            counts whole numbers >= 1. The bag of a text is the sum of its
//            words' bags, in which the order of words does not matter, and of
//            its bigrams. A text without known features has the empty bag.
//   Words    for a tower that reads them in order: one bag per distinct word
//            (word_sequences.h), without bigrams.
//   Threads  thread-safe.
#ifndef SEMRANK_MODEL_TEXT_FEATURIZER_H_
#define SEMRANK_MODEL_TEXT_FEATURIZER_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/text/bag_batch.h"
#include "model/text/ngram_vocabulary.h"
#include "model/text/normalizer.h"
#include "model/text/word_fingerprint.h"
#include "model/text/word_sequences.h"
#include "model/text/word_vocabulary.h"

namespace semrank {

class Featurizer {
 public:
  // Needs at least one vocabulary. FromBigramList has made `bigrams`. Texts are
  // normalised by `normalizer_version`.
  static absl::StatusOr<Featurizer> Create(
      std::optional<NgramVocabulary> ngrams,
      std::optional<WordVocabulary> words,
      std::optional<WordVocabulary> bigrams = std::nullopt,
      int normalizer_version = kNormalizerVersion);

  int normalizer_version() const { return normalizer_version_; }

  // One more than the highest index.
  int num_features() const;
  const std::optional<NgramVocabulary>& ngrams() const { return ngrams_; }
  const std::optional<WordVocabulary>& words() const { return words_; }
  const std::optional<WordVocabulary>& bigrams() const { return bigrams_; }

  // Appends the bag of one text from NormalizeText. Allocates only while the
  // batch's vectors grow.
  void AppendBag(std::string_view normalized, BagBatch& batch) const;
  // Appends the indices of the features of one word of a text, with repeats:
  // its letter n-grams by position, then the word.
  void AppendWordFeatures(const TextWord& word,
                          std::vector<std::uint32_t>& indices) const;
  // The index of the bigram that ends with the word, if it is known.
  std::optional<std::uint32_t> FindBigram(const TextWord& word) const {
    if (!bigrams_.has_value() || word.bigram.empty()) return std::nullopt;
    const std::optional<std::uint32_t> index =
        bigrams_->Find(word.bigram, word.bigram_key);
    if (!index.has_value()) return std::nullopt;
    return first_bigram() + *index;
  }
  // Prefetches the memory that FindBigram will read.
  void PrefetchBigram(const TextWord& word) const {
    if (bigrams_.has_value()) bigrams_->Prefetch(word.bigram_key);
  }
  // Appends the words of one text, each with its own bag, which is empty for a
  // word without known features. Allocates as AppendBag.
  void AppendWords(std::string_view normalized, WordSequences& batch) const;

 private:
  Featurizer(std::optional<NgramVocabulary> ngrams,
             std::optional<WordVocabulary> words,
             std::optional<WordVocabulary> bigrams, int normalizer_version)
      : ngrams_(std::move(ngrams)),
        words_(std::move(words)),
        bigrams_(std::move(bigrams)),
        normalizer_version_(normalizer_version) {}

  // Index of the first word and of the first bigram.
  std::uint32_t first_word() const {
    return ngrams_ ? static_cast<std::uint32_t>(ngrams_->size()) : 0;
  }
  std::uint32_t first_bigram() const {
    return first_word() +
           (words_ ? static_cast<std::uint32_t>(words_->size()) : 0);
  }

  // The index of the word itself.
  std::optional<std::uint32_t> FindWord(const TextWord& word) const;

  std::optional<NgramVocabulary> ngrams_;
  std::optional<WordVocabulary> words_;
  std::optional<WordVocabulary> bigrams_;
  int normalizer_version_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_FEATURIZER_H_
