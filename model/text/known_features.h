// How much of a text a model knows. A word without any known feature adds
// nothing to the tower's vector, and a text of such words has the zero vector.
//
//   Threads  thread-safe.
#ifndef SEMRANK_MODEL_TEXT_KNOWN_FEATURES_H_
#define SEMRANK_MODEL_TEXT_KNOWN_FEATURES_H_

#include <cstdint>
#include <string_view>

#include "model/text/featurizer.h"

namespace semrank {

// Counts over the words of a text. Words and n-grams that occur twice count
// twice.
struct KnownFeatures {
  std::uint32_t num_words = 0;
  // Words with at least one known feature: an n-gram, the word itself, or the
  // bigram that it ends.
  std::uint32_t num_known_words = 0;
  // Words that the vocabulary has as a feature of their own.
  std::uint32_t num_listed_words = 0;
  // Both 0 for a model without letters. With hashed n-grams all are known.
  std::uint32_t num_ngrams = 0;
  std::uint32_t num_known_ngrams = 0;
};

// `normalized` is from NormalizeText. Allocates only while the memory of the
// thread grows.
KnownFeatures CountKnownFeatures(const Featurizer& featurizer,
                                 std::string_view normalized);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_KNOWN_FEATURES_H_
