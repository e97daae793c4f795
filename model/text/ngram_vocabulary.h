// Letter n-grams of words to indices: the word hashing of DSSM 3.2. A word is
// marked as "#word#"; its n-grams are the windows of n code points. A marked
// word shorter than n is one n-gram.
//
//   Kinds    a list (index = position in the list, unknown n-grams are dropped)
//            or a fixed hash to buckets (no n-gram is dropped, several may
//            share a bucket). The hash is the same in every process and
//            release, as published weights depend on it. Golden values are
//            tested.
//   Cost     a direct table for ASCII trigrams, a hash map otherwise.
//   Threads  thread-safe.
#ifndef SEMRANK_MODEL_TEXT_NGRAM_VOCABULARY_H_
#define SEMRANK_MODEL_TEXT_NGRAM_VOCABULARY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "model/text/letter_windows.h"

namespace semrank {

inline constexpr int kMaxVocabularySize = 1 << 26;

// The n-grams of one word of normalised text, marks included, in order of
// position and with repeats: "good", 3 -> #go goo ood od#. Nothing for an empty
// word or a length out of range.
std::vector<std::string> LetterNgrams(std::string_view word, int ngram_length);

class NgramVocabulary {
 public:
  // InvalidArgument, with the line: length out of range, empty list, an entry
  // that is empty, longer than ngram_length code points, contains a line break
  // or occurs twice.
  static absl::StatusOr<NgramVocabulary> FromList(
      int ngram_length, std::vector<std::string> ngrams);
  static absl::StatusOr<NgramVocabulary> Hashed(int ngram_length,
                                                int num_buckets);

  int size() const { return size_; }
  int ngram_length() const { return ngram_length_; }
  bool hashed() const { return ngrams_.empty(); }
  // Empty when hashed.
  const std::vector<std::string>& ngrams() const { return ngrams_; }

  // Appends the index in [0, size()) of each known n-gram of each word of a
  // normalised text (a word is one), with repeats, in order of position.
  // Allocates only while the vector grows.
  void AppendIndices(std::string_view normalized,
                     std::vector<std::uint32_t>& indices) const;

 private:
  NgramVocabulary(int ngram_length, int size)
      : ngram_length_(ngram_length), size_(size) {}

  std::uint32_t Find(std::string_view ngram) const;
  void FillAsciiTrigrams();
  // Returns false and appends nothing if a letter is not in [a-z0-9].
  bool AppendAsciiTrigrams(std::string_view normalized,
                           std::vector<std::uint32_t>& indices) const;

  int ngram_length_;
  int size_;
  std::vector<std::string> ngrams_;
  absl::flat_hash_map<std::string, std::uint32_t> index_of_;
  // Index of each trigram of [#a-z0-9] that has a letter in the middle; only
  // for ngram_length 3.
  std::vector<std::uint32_t> ascii_trigrams_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_NGRAM_VOCABULARY_H_
