// Whole words to indices, the features of DSSM's row 9 and of SSI, or ordered
// pairs of adjacent words ("bigrams"), so that "open file" is not "file open".
//
//   Entry    words with single blanks between them, so that a bigram is looked
//            up as it stands in a normalised text.
//   Keys     fingerprints (word_fingerprint.h), in a table of 16 bytes a slot:
//            with those of its words a bigram is found without hashing it.
//   Threads  thread-safe.
#ifndef SEMRANK_MODEL_TEXT_WORD_VOCABULARY_H_
#define SEMRANK_MODEL_TEXT_WORD_VOCABULARY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/base/fingerprint.h"
#include "model/base/huge_pages.h"

namespace semrank {

class WordVocabulary {
 public:
  // InvalidArgument, with the line: empty list, an entry that is empty,
  // contains a blank or line break, or occurs twice.
  static absl::StatusOr<WordVocabulary> FromList(
      std::vector<std::string> words);
  // As FromList for bigrams: an entry is two words and one blank.
  static absl::StatusOr<WordVocabulary> FromBigramList(
      std::vector<std::string> bigrams);

  // Gives each word that is not listed one of `num_buckets` indices after those
  // of the listed words, by a hash that is part of the model format.
  void HashUnknownWords(int num_buckets) { num_buckets_ = num_buckets; }

  // Listed words and buckets.
  int size() const { return static_cast<int>(words_.size()) + num_buckets_; }
  // The listed ones.
  const std::vector<std::string>& words() const { return words_; }
  // Index of a normalised word or bigram in [0, size()), or nothing.
  std::optional<std::uint32_t> Find(std::string_view entry) const;
  // As Find, given the entry's WordFingerprint or BigramFingerprint.
  std::optional<std::uint32_t> Find(std::string_view entry,
                                    const Fingerprint& key) const {
    const Slot& slot = slots_[Place(key)];
    if (slot.index != kFree) return slot.index;
    if (num_buckets_ == 0) return std::nullopt;
    return Bucket(entry);
  }

  // Prefetches the memory that Find will read.
  void Prefetch(const Fingerprint& key) const {
    __builtin_prefetch(&slots_[FirstPlace(key)]);
  }

 private:
  WordVocabulary() = default;
  static absl::StatusOr<WordVocabulary> Make(std::vector<std::string> entries,
                                             bool bigrams);

  // 96 bits of the key: two of a million entries agree in them with a
  // probability of 1e-17.
  struct Slot {
    std::uint64_t lo = 0;
    std::uint32_t hi = 0;
    std::uint32_t index = kFree;

    bool Holds(const Fingerprint& key) const {
      return lo == key.lo && hi == static_cast<std::uint32_t>(key.hi);
    }
  };
  static constexpr std::uint32_t kFree = 0xFFFFFFFF;
  std::size_t FirstPlace(const Fingerprint& key) const {
    // Fingerprints are uniform: their low bits need no further mixing.
    return key.lo & (slots_.size() - 1);
  }
  // The place of `key`, or the free slot for it (linear probing).
  std::size_t Place(const Fingerprint& key) const {
    std::size_t place = FirstPlace(key);
    while (slots_[place].index != kFree && !slots_[place].Holds(key)) {
      place = (place + 1) & (slots_.size() - 1);
    }
    return place;
  }
  // The index of an entry that is not listed; there are buckets.
  std::uint32_t Bucket(std::string_view entry) const;

  std::vector<std::string> words_;
  int num_buckets_ = 0;  // of unknown words; 0 = they have no index
  // A power of two, at most half of them taken.
  HugePageVector<Slot> slots_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_WORD_VOCABULARY_H_
