// The Unicode algorithms of the normalizer, on code points: UTF-8, NFKC with
// case folding, and the classes of characters of version 1.
#ifndef SEMRANK_MODEL_TEXT_UNICODE_H_
#define SEMRANK_MODEL_TEXT_UNICODE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"

namespace semrank {

// What version 1 of the normalizer does with a character, after folding.
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

// Not a character: UTF-16 uses these code points in pairs.
constexpr bool IsSurrogate(std::int32_t code_point) {
  return code_point >= 0xD800 && code_point <= 0xDFFF;
}

// Whether NFKC and case folding leave the character as it is alone. Takes far
// less time than FoldToFixedPoint.
bool FoldsToItself(std::int32_t code_point);

// Decodes the first code point of `text`, which is not empty. Returns its
// bytes, or less than 1 if it is not valid UTF-8.
int DecodeFirstOf(std::string_view text, std::int32_t& code_point);
// Writes the UTF-8 of a code point. Returns its bytes, at most 4.
inline int EncodeTo(std::int32_t code_point, char* out) {
  const auto byte = [&](int prefix, int shift) {
    *out++ = static_cast<char>(prefix | (code_point >> shift & 0x3F));
  };
  if (code_point < 0x80) {
    *out = static_cast<char>(code_point);
    return 1;
  }
  if (code_point < 0x800) {
    byte(0xC0, 6);
    byte(0x80, 0);
    return 2;
  }
  if (code_point < 0x10000) {
    *out++ = static_cast<char>(0xE0 | code_point >> 12);
    byte(0x80, 6);
    byte(0x80, 0);
    return 3;
  }
  byte(0xF0, 18);
  byte(0x80, 12);
  byte(0x80, 6);
  byte(0x80, 0);
  return 4;
}
// Appends the UTF-8 of a code point.
void AppendUtf8(std::int32_t code_point, std::string& text);
// Appends the code points of `text`. InvalidArgument, with the offset of the
// first invalid byte.
absl::Status DecodeUtf8(std::string_view text, CodePoints& code_points);
// Replaces `text`.
void EncodeUtf8(const CodePoints& code_points, std::string& text);

// Returns the form NFC of `text`, in the time that FoldToFixedPoint takes.
CodePoints ComposeCanonical(const CodePoints& text);

// Replaces `text` by the fixed point of x -> NFKC(CaseFold(x)) that is reached
// from NFKC(text). One pass is not enough in general: folding can undo a
// composition, and composing can make a character that folds again. Every value
// must be a code point and no surrogate. Linear time, but for runs of combining
// marks, which are sorted (n log n): no input makes it quadratic.
void FoldToFixedPoint(CodePoints& text);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_UNICODE_H_
