#include "model/text/character_table.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "model/text/unicode.h"

namespace semrank {
namespace {

struct Range {
  std::int32_t first, last;
  TextClass text_class;
};

// Ascending. Characters that are in no range go by their general category.
constexpr Range kRanges[] = {
    {'"', '&', TextClass::kSign},  // " # $ % &
    {'\'', '\'', TextClass::kApostrophe},
    {'*', '+', TextClass::kSign},
    {'-', '/', TextClass::kSign},  // - . /
    {'_', '_', TextClass::kSign},
    {'`', '`', TextClass::kApostrophe},
    {0x2BB, 0x2BC, TextClass::kApostrophe},    // modifier letters: Hawaiʻi
    {0x55A, 0x55A, TextClass::kApostrophe},    // Armenian
    {0x5F3, 0x5F3, TextClass::kApostrophe},    // Hebrew geresh
    {0x640, 0x640, TextClass::kIgnored},       // Arabic tatweel
    {0x2010, 0x2011, TextClass::kSign},        // hyphens
    {0x2018, 0x2019, TextClass::kApostrophe},  // typographic quotes
    {0x201B, 0x201B, TextClass::kApostrophe},
    {0x2044, 0x2044, TextClass::kSign},     // fraction slash
    {0x20E3, 0x20E3, TextClass::kIgnored},  // keycap
    {0x266F, 0x266F, TextClass::kSign},     // music sharp
    {0x30FC, 0x30FC, TextClass::kMark},     // lengthens a kana
    {0x1F1E6, 0x1F1FF, TextClass::kFlag},
    {0x1F3FB, 0x1F3FF, TextClass::kEmoji},  // skin tones
};

// Ascending. The letters, marks and numbers of scripts in which words are not
// separated by blanks, and of Hangul; other characters of these ranges go by
// their general category.
constexpr Range kScripts[] = {
    {0x0E00, 0x0E7F, TextClass::kThai},
    {0x0E80, 0x0EFF, TextClass::kLao},
    {0x1000, 0x109F, TextClass::kMyanmar},
    {0x1100, 0x11FF, TextClass::kHangul},
    {0x1780, 0x17FF, TextClass::kKhmer},
    {0x2E80, 0x2FDF, TextClass::kIdeograph},  // radicals
    {0x3005, 0x3007, TextClass::kIdeograph},  // iteration mark, zero
    {0x3021, 0x3029, TextClass::kIdeograph},  // numerals
    {0x3038, 0x303B, TextClass::kIdeograph},
    {0x3041, 0x309F, TextClass::kHiragana},
    {0x30A1, 0x30FF, TextClass::kKatakana},
    {0x31F0, 0x31FF, TextClass::kKatakana},
    {0x3400, 0x4DBF, TextClass::kIdeograph},
    {0x4E00, 0x9FFF, TextClass::kIdeograph},
    {0xA960, 0xA97F, TextClass::kHangul},
    {0xA9E0, 0xA9FF, TextClass::kMyanmar},
    {0xAA60, 0xAA7F, TextClass::kMyanmar},
    {0xAC00, 0xD7FF, TextClass::kHangul},
    {0xF900, 0xFAFF, TextClass::kIdeograph},
    {0x1B000, 0x1B16F, TextClass::kHiragana},
    {0x20000, 0x3FFFF, TextClass::kIdeograph},
};

template <std::size_t kSize>
const Range* FindRange(const Range (&ranges)[kSize], std::int32_t code_point) {
  const Range* const range = std::ranges::lower_bound(
      ranges, code_point, {}, [](const Range& r) { return r.last; });
  return range != std::end(ranges) && range->first <= code_point ? range
                                                                 : nullptr;
}

bool IsPictograph(const utf8proc_property_t& property) {
  return property.category == UTF8PROC_CATEGORY_SO &&
         property.boundclass == UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC;
}

constexpr bool IsIn(std::int32_t code_point, std::int32_t first,
                    std::int32_t last) {
  return code_point >= first && code_point <= last;
}

// The ranges above come first: they are the exceptions from what Unicode says
// of a character. Scripts come last, since their blocks also have signs.
TextClass FindClass(std::int32_t code_point) {
  if (const Range* range = FindRange(kRanges, code_point)) {
    return range->text_class;
  }
  const utf8proc_property_t& property = *utf8proc_get_property(code_point);
  if (property.ignorable) return TextClass::kIgnored;
  if (property.category == UTF8PROC_CATEGORY_SC) return TextClass::kSign;
  // The copyright signs are pictographs to Unicode, but not to readers.
  if (IsPictograph(property) && code_point > 0xFF) return TextClass::kEmoji;
  switch (Classify(code_point)) {
    case CharacterClass::kMark:
      return TextClass::kMark;
    case CharacterClass::kWord: {
      const Range* const script = FindRange(kScripts, code_point);
      return script == nullptr ? TextClass::kLetter : script->text_class;
    }
    default:
      return TextClass::kBlank;
  }
}

// Hangul letters compose with each other, marks with what precedes them.
bool MayCompose(std::int32_t code_point) {
  return IsIn(code_point, 0x1100, 0x11FF) ||
         Classify(code_point) == CharacterClass::kMark;
}

// A character is not simple if it is none (surrogates), needs a blank before
// it, may compose with a neighbour, or becomes several code points.
TextCharacter MakeCharacter(std::int32_t code_point) {
  TextCharacter character = {.folded = static_cast<std::uint32_t>(code_point),
                             .text_class = FindClass(code_point)};
  if (IsSurrogate(code_point) || BeginsNumber(code_point) ||
      MayCompose(code_point)) {
    return character;
  }
  CodePoints folded = {ReplaceBeforeFolding(code_point)};
  if (folded[0] == 0) {
    character.is_simple = true;
    return character;
  }
  if (folded[0] != code_point || !FoldsToItself(code_point)) {
    FoldToFixedPoint(folded);
  }
  if (folded.size() != 1 || MayCompose(folded[0])) return character;
  character.text_class = FindClass(folded[0]);
  if (OmitsAccents(folded[0])) folded[0] = WithoutAccent(folded[0]);
  character.folded = static_cast<std::uint32_t>(folded[0]) & 0xFFFFFF;
  character.is_simple = true;
  return character;
}

constexpr std::int32_t kAccentsEnd = 0x2000;
using AccentTable = std::array<std::uint16_t, kAccentsEnd>;

bool IsAccent(std::int32_t mark) {
  return IsIn(mark, 0x300, 0x36F) || IsIn(mark, 0x591, 0x5C7) ||
         IsIn(mark, 0x610, 0x61A) || IsIn(mark, 0x64B, 0x65F) ||
         mark == 0x670 || IsIn(mark, 0x6D6, 0x6ED);
}

// In Cyrillic only the stress and the dots of ё are omitted in writing: й and
// и, ї and і are different letters.
bool IsOmitted(std::int32_t base, std::int32_t mark) {
  if (IsIn(base, 0x400, 0x52F)) {
    return IsIn(mark, 0x300, 0x301) || (mark == 0x308 && base == 0x435);
  }
  return IsIn(base, 'a', 'z') || IsIn(base, 0xC0, 0x24F) ||
         IsIn(base, 0x370, 0x3FF) || IsIn(base, 0x5D0, 0x6FF);
}

std::int32_t FindLetterWithoutAccent(std::int32_t code_point) {
  switch (code_point) {  // letters that Unicode does not decompose
    case 0xF8:           // ø
      return 'o';
    case 0x111:  // đ
      return 'd';
    case 0x127:  // ħ
      return 'h';
    case 0x131:  // dotless i
      return 'i';
    case 0x142:  // ł
      return 'l';
    default:
      break;
  }
  if (Classify(code_point) == CharacterClass::kMark) {
    return IsAccent(code_point) ? 0 : code_point;
  }
  std::int32_t parts[8];
  const utf8proc_ssize_t size = utf8proc_decompose_char(
      code_point, parts, std::size(parts), UTF8PROC_DECOMPOSE, nullptr);
  if (size < 2 || size > utf8proc_ssize_t{std::size(parts)}) return code_point;
  const bool omitted = std::all_of(parts + 1, parts + size, [&](auto mark) {
    return IsAccent(mark) && IsOmitted(parts[0], mark);
  });
  // The stroke of ǿ is not a mark to Unicode.
  return omitted ? FindLetterWithoutAccent(parts[0]) : code_point;
}

}  // namespace

const std::vector<TextCharacter>& TextCharacters() {
  // The tables are never destroyed: threads may still normalize while the
  // process ends.
  static const auto* const table = [] {
    auto* characters = new std::vector<TextCharacter>;
    for (std::int32_t c = 0; c < kTabledCharacters; ++c) {
      characters->push_back(MakeCharacter(c));
    }
    return characters;
  }();
  return *table;
}

TextClass TextClassOf(std::int32_t code_point) {
  if (code_point >= kTabledCharacters) return FindClass(code_point);
  const TextCharacter character =
      TextCharacters()[static_cast<std::size_t>(code_point)];
  // The table has the class of what the character folds to.
  return static_cast<std::int32_t>(character.folded) == code_point
             ? character.text_class
             : FindClass(code_point);
}

std::int32_t ReplaceBeforeFolding(std::int32_t code_point) {
  if (code_point < 0x80) return code_point;
  switch (code_point) {
    case 0xB4:    // the acute accent as an apostrophe
    case 0x1FFD:  // the same
      return '\'';
    case 0x2120:  // service mark
    case 0x2122:  // trade mark
      return ' ';
    case 0x2010:  // hyphens
    case 0x2011:
      return '-';
    default:
      return utf8proc_get_property(code_point)->ignorable ? 0 : code_point;
  }
}

bool BeginsNumber(std::int32_t code_point) {
  return IsIn(code_point, 0xBC, 0xBE) || IsIn(code_point, 0x2150, 0x215F) ||
         code_point == 0x2189;
}

std::int32_t WithoutAccent(std::int32_t code_point) {
  static const auto* const table = [] {
    auto* letters = new AccentTable;
    for (std::int32_t c = 0; c < kAccentsEnd; ++c) {
      (*letters)[c] = static_cast<std::uint16_t>(FindLetterWithoutAccent(c));
    }
    return letters;
  }();
  return code_point < kAccentsEnd ? (*table)[code_point] : code_point;
}

}  // namespace semrank
