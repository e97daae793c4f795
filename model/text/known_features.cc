#include "model/text/known_features.h"

#include <vector>

#include "model/text/letter_windows.h"
#include "model/text/word_fingerprint.h"

namespace semrank {
namespace {

void AddNgrams(const NgramVocabulary& ngrams, std::string_view word,
               std::vector<std::uint32_t>& indices, KnownFeatures& known) {
  ForEachLetterWindow(word, ngrams.ngram_length(),
                      [&](std::string_view) { ++known.num_ngrams; });
  indices.clear();
  ngrams.AppendIndices(word, indices);
  known.num_known_ngrams += static_cast<std::uint32_t>(indices.size());
}

}  // namespace

KnownFeatures CountKnownFeatures(const Featurizer& featurizer,
                                 std::string_view normalized) {
  thread_local std::vector<TextWord> words;
  thread_local std::vector<std::uint32_t> indices;
  words.clear();
  AppendTextWords(normalized, words);
  KnownFeatures known;
  for (const TextWord& word : words) {
    ++known.num_words;
    const std::uint32_t ngrams_before = known.num_known_ngrams;
    if (featurizer.ngrams().has_value()) {
      AddNgrams(*featurizer.ngrams(), word.word, indices, known);
    }
    const bool listed =
        featurizer.words().has_value() &&
        featurizer.words()->Find(word.word, word.key).has_value();
    known.num_listed_words += listed ? 1 : 0;
    const bool is_known = listed || known.num_known_ngrams > ngrams_before ||
                          featurizer.FindBigram(word).has_value();
    known.num_known_words += is_known ? 1 : 0;
  }
  return known;
}

}  // namespace semrank
