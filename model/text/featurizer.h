// Normalised texts to bags of features, the input x of a tower (DSSM eq. 3,
// l1 = W1 x): counts of letter n-grams, of words, or of both. Features are
// numbered consecutively, n-grams first, then words.
//
//   Bag      (index, count) pairs, index rising, each index once, counts whole
//            numbers >= 1. The bag of a text is the sum of its words' bags; the
//            order of words does not matter. No known feature = empty bag.
//   Words    for a tower that reads them in order: one bag per distinct word
//            (word_sequences.h).
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
#include "model/text/word_sequences.h"
#include "model/text/word_vocabulary.h"

namespace semrank {

class Featurizer {
 public:
  // At least one vocabulary.
  static absl::StatusOr<Featurizer> Create(
      std::optional<NgramVocabulary> ngrams,
      std::optional<WordVocabulary> words);

  // One more than the highest index.
  int num_features() const;
  const std::optional<NgramVocabulary>& ngrams() const { return ngrams_; }
  const std::optional<WordVocabulary>& words() const { return words_; }

  // Appends the bag of one text from NormalizeText. Allocates only while the
  // batch's vectors grow.
  void AppendBag(std::string_view normalized, BagBatch& batch) const;
  // Appends the words of one text, each with its own bag, which is empty for a
  // word without known features. Allocates as AppendBag.
  void AppendWords(std::string_view normalized, WordSequences& batch) const;

 private:
  Featurizer(std::optional<NgramVocabulary> ngrams,
             std::optional<WordVocabulary> words)
      : ngrams_(std::move(ngrams)), words_(std::move(words)) {}

  std::optional<NgramVocabulary> ngrams_;
  std::optional<WordVocabulary> words_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_FEATURIZER_H_
