#include "model/train/batches/query_typos.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "model/text/letter_windows.h"
#include "model/text/normalizer.h"

namespace semrank {
namespace {

// The code points of a word.
using Letters = std::vector<std::string_view>;

Letters SplitLetters(std::string_view word) {
  Letters letters;
  while (!word.empty()) {
    letters.push_back(word.substr(0, FirstCharacterBytes(word)));
    word.remove_prefix(letters.back().size());
  }
  return letters;
}

// Digits distinguish versions and model numbers: another digit is another word,
// not a typo (name_match.h has the same rule).
bool CanBeMistyped(std::string_view word) {
  const bool has_digit = std::ranges::any_of(
      word, [](char letter) { return letter >= '0' && letter <= '9'; });
  return !has_digit && CountCodePoints(word) >= kMinTypoLetters;
}

std::string_view NewLetter(const Letters& letters, Random& random) {
  // There is no table of other scripts' letters: the word's own serve.
  static constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz";
  const bool latin = std::ranges::all_of(
      letters, [](std::string_view letter) { return letter.size() == 1; });
  if (latin) return kAlphabet.substr(random.Below(26), 1);
  return letters[random.Below(static_cast<std::uint32_t>(letters.size()))];
}

// Deletes, inserts or replaces a letter, or swaps it with the next one, each as
// often: Damerau's four errors.
void Edit(Letters& letters, Random& random) {
  const auto size = static_cast<std::uint32_t>(letters.size());
  const std::uint32_t place = random.Below(size);
  switch (random.Below(4)) {
    case 0:
      letters.erase(letters.begin() + place);
      break;
    case 1: {
      const std::string_view letter = NewLetter(letters, random);
      letters.insert(letters.begin() + place, letter);
      break;
    }
    case 2:
      letters[place] = NewLetter(letters, random);
      break;
    default: {
      const std::uint32_t first = std::min(place, size - 2);
      std::swap(letters[first], letters[first + 1]);
    }
  }
}

// Some replacements and swaps change nothing; these are drawn again.
std::string MistypedWord(std::string_view word, Random& random) {
  for (;;) {
    Letters letters = SplitLetters(word);
    Edit(letters, random);
    std::string edited;
    for (const std::string_view letter : letters) edited.append(letter);
    if (edited != word) return edited;
  }
}

}  // namespace

std::optional<std::string> Mistype(std::string_view text, Random& random) {
  std::vector<std::string_view> words;
  const std::string_view main_words = MainWords(text);
  ForEachWord(main_words, [&words](std::string_view word) {
    if (CanBeMistyped(word)) words.push_back(word);
  });
  if (words.empty()) return std::nullopt;
  const std::string_view word =
      words[random.Below(static_cast<std::uint32_t>(words.size()))];
  const auto begin = static_cast<std::size_t>(word.data() - text.data());
  std::string edited(text.substr(0, begin));
  edited += MistypedWord(word, random);
  // The rest of the text stays as it is, with its blanks.
  edited += main_words.substr(begin + word.size());
  if (main_words.size() == text.size()) return edited;
  // The further words follow from the words.
  return NormalizeText(edited).value_or(edited);
}

}  // namespace semrank
