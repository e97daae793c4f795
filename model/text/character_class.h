// What the normaliser does with a character, after folding.
#ifndef SEMRANK_MODEL_TEXT_CHARACTER_CLASS_H_
#define SEMRANK_MODEL_TEXT_CHARACTER_CLASS_H_

#include <cstdint>

namespace semrank {

enum class CharacterClass : std::uint8_t {
  kBlank,       // everything else: separates words
  kApostrophe,  // dropped inside a word, a blank elsewhere
  kMark,        // kept, belongs to the character before it
  kWord,        // a letter or a number, kept
};

// Of any code point, by its Unicode general category.
CharacterClass Classify(std::int32_t code_point);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_CHARACTER_CLASS_H_
