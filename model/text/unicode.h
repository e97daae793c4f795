// The Unicode algorithms of the normalizer, on code points: classes of
// characters, and NFKC with case folding.
#ifndef SEMRANK_MODEL_TEXT_UNICODE_H_
#define SEMRANK_MODEL_TEXT_UNICODE_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"

namespace semrank {

// What the normalizer does with a character, after folding.
enum class CharacterClass : std::uint8_t {
  kBlank,       // everything else: separates words
  kApostrophe,  // dropped inside a word, a blank elsewhere
  kMark,        // kept, belongs to the character before it
  kWord,        // a letter or a number, kept
};

// The class of a code point, by its Unicode general category.
CharacterClass Classify(std::int32_t code_point);

// The elements of a title are inlined, so that it needs no allocation.
using CodePoints = absl::InlinedVector<std::int32_t, 128>;

// Replaces `text` by the fixed point of x -> NFKC(CaseFold(x)) that is reached
// from NFKC(text). One pass is not enough in general: folding can undo a
// composition, and composing can make a character that folds again. Every value
// must be a code point and no surrogate. Linear time, but for runs of combining
// marks, which are sorted (n log n): no input makes it quadratic.
void FoldToFixedPoint(CodePoints& text);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_UNICODE_H_
