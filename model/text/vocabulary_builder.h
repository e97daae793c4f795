// Collects the vocabulary of a training set, and counts the collisions of word
// hashing. Not thread-safe.
#ifndef SEMRANK_MODEL_TEXT_VOCABULARY_BUILDER_H_
#define SEMRANK_MODEL_TEXT_VOCABULARY_BUILDER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace semrank {

// Counts words, and on demand bigrams, of normalised texts. n-grams are derived
// from the distinct words at the end, so a text costs one look-up per word.
class VocabularyBuilder {
 public:
  void AddText(std::string_view normalized);
  // Counts the bigrams of a text that occurs `times` times, and nothing else of
  // it.
  void AddBigrams(std::string_view normalized, std::int64_t times = 1);

  // Bounds memory: drops all but the `num_words` most frequent words and counts
  // the n-grams, of that length, of dropped words. A dropped word that occurs
  // again is counted from 0. n-grams of dropped words are bounded by the same
  // number.
  void DropRareWords(std::int64_t num_words, int ngram_length);
  // Drops all but the `num_bigrams` most frequent bigrams.
  void DropRareBigrams(std::int64_t num_bigrams);

  // Words and bigrams that were not dropped.
  std::int64_t num_distinct_words() const {
    return static_cast<std::int64_t>(word_counts_.size());
  }
  std::int64_t num_distinct_bigrams() const {
    return static_cast<std::int64_t>(bigram_counts_.size());
  }
  // Total length of these words and bigrams in bytes.
  std::int64_t num_characters() const { return num_characters_; }
  // Each returns at most max_size entries (0 = all) that occurred at least
  // min_count times, the most frequent first, ties in byte order.
  std::vector<std::string> Words(std::int64_t max_size,
                                 std::int64_t min_count) const;
  std::vector<std::string> Bigrams(std::int64_t max_size,
                                   std::int64_t min_count) const;
  std::vector<std::string> LetterNgrams(int ngram_length, std::int64_t max_size,
                                        std::int64_t min_count) const;

 private:
  absl::flat_hash_map<std::string, std::int64_t> word_counts_;
  absl::flat_hash_map<std::string, std::int64_t> bigram_counts_;
  std::int64_t num_characters_ = 0;
  absl::flat_hash_map<std::string, std::int64_t>
      ngram_counts_;  // of dropped words
};

// Table 1 of the DSSM paper for one word list and n.
struct CollisionStatistics {
  std::int64_t num_words = 0;   // distinct
  std::int64_t num_ngrams = 0;  // "token size"
  std::int64_t num_collisions =
      0;  // words whose n-gram counts equal those of an earlier word
};
// `words` are words of normalised text; repeats are not counted. Bags are
// compared exactly, not by a hash.
CollisionStatistics CountCollisions(const std::vector<std::string>& words,
                                    int ngram_length);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_VOCABULARY_BUILDER_H_
