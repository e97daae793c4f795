// 128-bit fingerprints of words and of pairs of adjacent words, by which tables
// of words are looked up without comparing strings.
//
//   Secret   one per process (fingerprint.h): text cannot be crafted so that
//            two words collide, and nothing derived from a fingerprint
//            outlives the process.
#ifndef SEMRANK_MODEL_TEXT_WORD_FINGERPRINT_H_
#define SEMRANK_MODEL_TEXT_WORD_FINGERPRINT_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/base/fingerprint.h"

namespace semrank {

Fingerprint WordFingerprint(std::string_view word);

// The fingerprint of a word and the next one. Both are uniform and secret, so
// sums modulo 2^64 are too. The odd factor distinguishes the first word from
// the second.
inline Fingerprint BigramFingerprint(const Fingerprint& first,
                                     const Fingerprint& second) {
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15;
  return {.hi = first.hi * kFactor + second.hi,
          .lo = first.lo * kFactor + second.lo};
}

// A word of a normalised text, and the bigram of the word before it and itself,
// which is empty for the first word.
struct TextWord {
  std::string_view word = {};
  Fingerprint key = {};
  std::string_view bigram = {};
  Fingerprint bigram_key = {};
};

// Appends the words of a normalised text. Each is hashed once.
void AppendTextWords(std::string_view normalized, std::vector<TextWord>& words);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_WORD_FINGERPRINT_H_
