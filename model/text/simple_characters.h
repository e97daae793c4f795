// The characters that normalise alone, whatever stands beside them, and what
// they become: nearly all of ordinary text in most scripts, so that most texts
// need one table look-up a character instead of the full Unicode algorithms.
//
//   Simple   not a mark and not a Hangul letter (those compose with their
//            neighbours), and folds to only letters and numbers, or to only
//            blanks, or to an apostrophe, in no more bytes than it had.
//   Threads  free functions, from any thread. The table (512 KiB) is made at
//            the first call, which takes about 10 ms.
#ifndef SEMRANK_MODEL_TEXT_SIMPLE_CHARACTERS_H_
#define SEMRANK_MODEL_TEXT_SIMPLE_CHARACTERS_H_

#include <array>
#include <cstdint>

namespace semrank {

struct SimpleCharacter {
  // The UTF-8 bytes of what it becomes: letters and numbers, or one ' ', or one
  // apostrophe. What needs more than three bytes counts as not simple.
  std::array<char, 3> bytes = {};
  std::uint8_t num_bytes = 0;  // 0: not simple

  bool is_blank() const { return bytes[0] == ' '; }
  bool is_apostrophe() const { return bytes[0] == '\''; }
  bool is_word() const { return !is_blank() && !is_apostrophe(); }
};

// Code points from here on (rare scripts and ideographs) are never simple.
inline constexpr std::int32_t kSimpleCharactersEnd = 0x20000;

using SimpleCharacters = std::array<SimpleCharacter, kSimpleCharactersEnd>;
const SimpleCharacters& GetSimpleCharacters();

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_SIMPLE_CHARACTERS_H_
