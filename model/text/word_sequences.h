// Texts as sequences of words, the input of a tower that reads words in order
// (CLSM eq. 1). Each distinct word of the batch has one bag of features,
// however often it occurs.
//
//   Word 0   kPaddingWord, present once the batch has a text; no text contains
//            it. The others are numbered in order of first appearance.
//   Memory   kept by Clear.
//   Threads  not thread-safe.
#ifndef SEMRANK_MODEL_TEXT_WORD_SEQUENCES_H_
#define SEMRANK_MODEL_TEXT_WORD_SEQUENCES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/base/fingerprint.h"
#include "model/text/bag_batch.h"

namespace semrank {

// Pads a text on both sides, so that every word has a full window (CLSM 3.3).
// It has n-grams and a word feature like any other word; no normalised text
// contains it.
inline constexpr std::string_view kPaddingWord = "<s>";

// Numbers distinct words from 0. Words are compared by 128-bit fingerprints
// under a secret of the process, so that input cannot be crafted to collide.
class WordNumbers {
 public:
  std::uint32_t size() const { return size_; }
  // The number of `word`; size() before the call if it is new.
  std::uint32_t Intern(std::string_view word);
  void Clear();

 private:
  struct Slot {
    Fingerprint word;
    std::uint32_t number = 0;
    std::uint32_t round = 0;  // slots of earlier rounds are free
  };
  Slot& FindSlot(const Fingerprint& word);
  void Grow();

  std::vector<Slot> slots_;  // a power of two, at most half of them taken
  std::uint32_t size_ = 0;
  std::uint32_t round_ = 1;
};

struct WordSequences {
  BagBatch bags;  // bag w: word w
  // Text t: words [offsets[t], offsets[t + 1]), as numbers of bags.
  std::vector<std::size_t> offsets = {0};
  std::vector<std::uint32_t> words;
  WordNumbers numbers;

  int num_texts() const { return static_cast<int>(offsets.size()) - 1; }
  std::span<const std::uint32_t> text(int t) const {
    return {words.data() + offsets[t], offsets[t + 1] - offsets[t]};
  }
  // Whether a word of text t has a known feature.
  bool HasFeatures(int t) const;
  void Clear();
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_WORD_SEQUENCES_H_
