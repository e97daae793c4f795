// Normalised texts to bags of features, the input x of a tower (DSSM eq. 3,
// l1 = W1 x): counts of letter n-grams, of words, or of both, numbered through
// (n-grams first, then words).
//
//   Bag      (index, count) pairs, index rising, each index once, counts whole
//            and >= 1. The bag of a text is the sum of its words' bags; the
//            order of words does not matter. No known feature = empty bag.
//   Threads  const after construction.
#ifndef SEMRANK_MODEL_TEXT_FEATURIZER_H_
#define SEMRANK_MODEL_TEXT_FEATURIZER_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/text/ngram_vocabulary.h"
#include "model/text/word_vocabulary.h"

namespace semrank {

// The bags of several texts, one after another: bag i is the entries
// [offsets[i], offsets[i + 1]) of indices and counts.
struct BagBatch {
  std::vector<std::uint32_t> offsets = {0};  // num_texts + 1 values
  std::vector<std::uint32_t> indices;
  std::vector<float> counts;

  int num_texts() const { return static_cast<int>(offsets.size()) - 1; }
  // Empties the batch and keeps its memory.
  void Clear() {
    offsets.assign(1, 0);
    indices.clear();
    counts.clear();
  }
};

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

  // Appends the bag of one text that NormalizeText has made. No allocation
  // once the batch's vectors have grown.
  void AppendBag(std::string_view normalized, BagBatch& batch) const;

 private:
  Featurizer(std::optional<NgramVocabulary> ngrams,
             std::optional<WordVocabulary> words)
      : ngrams_(std::move(ngrams)), words_(std::move(words)) {}

  std::optional<NgramVocabulary> ngrams_;
  std::optional<WordVocabulary> words_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_FEATURIZER_H_
