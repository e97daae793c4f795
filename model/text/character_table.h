// What version 2 of the normalizer does with each character: the rules of
// TEXT.md as one table of code points.
//
//   Threads  thread-safe. The first call builds the tables in about 20 ms.
#ifndef SEMRANK_MODEL_TEXT_CHARACTER_TABLE_H_
#define SEMRANK_MODEL_TEXT_CHARACTER_TABLE_H_

#include <cstdint>
#include <vector>

namespace semrank {

// The role of a folded character. Classes from kLetter on make words, which end
// where the class changes.
enum class TextClass : std::uint8_t {
  kBlank,       // everything else: separates words
  kSign,        // as a blank, but part of how a name is spelled: c++, at&t
  kApostrophe,  // dropped inside a word, a blank elsewhere
  kIgnored,     // removed, does not separate: soft hyphen, joiners, tatweel
  kMark,        // belongs to the letter before it; removed without one
  kLetter,      // a letter or number of a script that writes blanks
  kHangul,
  kHiragana,
  kKatakana,
  kThai,
  kLao,
  kMyanmar,
  kKhmer,
  kIdeograph,  // a word of its own
  kEmoji,      // a word of its own
  kFlag,       // two regional indicators are a word of their own
};

inline bool MakesWords(TextClass c) { return c >= TextClass::kLetter; }

struct TextCharacter {
  std::uint32_t folded : 24 = 0;  // the code point that it becomes
  TextClass text_class : 7 = TextClass::kBlank;
  // Whether it folds to that one code point whatever stands beside it. If not,
  // only the full Unicode algorithms give what it becomes.
  bool is_simple : 1 = false;
};

// The characters below kTabledCharacters, where nearly all text lies, by code
// point.
inline constexpr std::int32_t kTabledCharacters = 0x20000;
const std::vector<TextCharacter>& TextCharacters();

// The class of a character that is folded.
TextClass TextClassOf(std::int32_t code_point);

// Replacements before folding, which would lose what they mean. Returns the
// code point itself, a blank or an apostrophe in its place, or 0 to remove it.
std::int32_t ReplaceBeforeFolding(std::int32_t code_point);
// Whether a blank precedes it: the fraction of "1½" is not a digit of 11/2.
bool BeginsNumber(std::int32_t code_point);

// The letter without its accents in Latin, Greek, Cyrillic, Arabic and Hebrew:
// e for é; 0 for a combining accent of these scripts; else `code_point`.
std::int32_t WithoutAccent(std::int32_t code_point);

// Whether writers of the letter's script may omit its accents or vowel points,
// so that both spellings are one word: Greek, Cyrillic, Hebrew and Arabic. In
// Latin they distinguish words.
constexpr bool OmitsAccents(std::int32_t letter) {
  return (letter >= 0x370 && letter < 0x700) ||
         (letter >= 0x1F00 && letter < 0x2000);
}

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_CHARACTER_TABLE_H_
