#include "model/text/simple_characters.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstddef>
#include <memory>

#include "model/text/character_class.h"
#include "model/text/unicode_fold.h"

namespace semrank {
namespace {

bool IsSurrogate(std::int32_t code_point) {
  return code_point >= 0xD800 && code_point <= 0xDFFF;
}

bool IsHangulLetter(std::int32_t code_point) {
  return code_point >= 0x1100 && code_point <= 0x11FF;
}

std::size_t Utf8Bytes(std::int32_t code_point, char* bytes) {
  return static_cast<std::size_t>(utf8proc_encode_char(
      code_point, reinterpret_cast<utf8proc_uint8_t*>(bytes)));
}

// The class that all of `text` has, or kMark if it is not simple.
CharacterClass CommonClass(const CodePoints& text) {
  const CharacterClass first = Classify(text.front());
  const bool common = std::all_of(text.begin(), text.end(), [&](auto c) {
    return Classify(c) == first && !IsHangulLetter(c);
  });
  return common ? first : CharacterClass::kMark;
}

// Most characters; asking saves most of the time that the table takes.
bool FoldsToItself(std::int32_t code_point) {
  utf8proc_int32_t first;
  const utf8proc_ssize_t size = utf8proc_decompose_char(
      code_point, &first, 1,
      static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT |
                                     UTF8PROC_CASEFOLD),
      nullptr);
  return size == 1 && first == code_point;
}

// What `code_point` becomes by itself; empty if it is not simple.
CodePoints FoldAlone(std::int32_t code_point) {
  if (IsSurrogate(code_point)) return {};
  if (Classify(code_point) == CharacterClass::kMark) return {};
  CodePoints folded = {code_point};
  if (!FoldsToItself(code_point)) FoldToFixedPoint(folded);
  switch (CommonClass(folded)) {
    case CharacterClass::kBlank:
      return {' '};
    case CharacterClass::kApostrophe:
      return {'\''};
    case CharacterClass::kWord:
      return folded;
    default:
      return {};
  }
}

SimpleCharacter MakeSimpleCharacter(std::int32_t code_point) {
  SimpleCharacter simple;
  char buffer[4];
  const std::size_t max_bytes =
      std::min(Utf8Bytes(code_point, buffer), simple.bytes.size());
  for (const std::int32_t c : FoldAlone(code_point)) {
    const std::size_t more = Utf8Bytes(c, buffer);
    if (simple.num_bytes + more > max_bytes) return SimpleCharacter();
    std::copy_n(buffer, more, simple.bytes.data() + simple.num_bytes);
    simple.num_bytes = static_cast<std::uint8_t>(simple.num_bytes + more);
  }
  return simple;
}

std::unique_ptr<SimpleCharacters> MakeSimpleCharacters() {
  auto table = std::make_unique<SimpleCharacters>();
  for (std::int32_t c = 0; c < kSimpleCharactersEnd; ++c) {
    (*table)[static_cast<std::size_t>(c)] = MakeSimpleCharacter(c);
  }
  return table;
}

}  // namespace

const SimpleCharacters& GetSimpleCharacters() {
  // Never destroyed: threads may still normalise while the process ends.
  static const SimpleCharacters* const table = MakeSimpleCharacters().release();
  return *table;
}

}  // namespace semrank
