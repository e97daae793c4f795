// The sliding window of word hashing (DSSM 3.2) over the code points of one
// marked word, without building "#word#", and steps through UTF-8 for it.
//
//   Input    valid UTF-8 without blanks, such as a word of NormalizeText. On
//            invalid bytes the result is meaningless, but nothing outside the
//            view is read.
#ifndef SEMRANK_MODEL_TEXT_LETTER_WINDOWS_H_
#define SEMRANK_MODEL_TEXT_LETTER_WINDOWS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace semrank {

inline constexpr int kMinNgramLength = 1;
inline constexpr int kMaxNgramLength = 8;

// Bytes of the first character of `text`, at least 1 unless it is empty.
inline std::size_t FirstCharacterBytes(std::string_view text) {
  if (text.empty()) return 0;
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead < 0xC0   ? 1
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                                           : 4;
  return std::min(length, text.size());
}

// Bytes 10xxxxxx continue a character.
inline bool BeginsCharacter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

inline std::size_t CountCodePoints(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), BeginsCharacter));
}

// Buffer for a window that contains a mark "#": at most kMaxNgramLength
// characters of four bytes.
class MarkedWindow {
 public:
  std::string_view Join(std::string_view before, std::string_view letters,
                        std::string_view after) {
    char* out = bytes_.data();
    for (const std::string_view part : {before, letters, after}) {
      std::memcpy(out, part.data(), part.size());
      out += part.size();
    }
    return {bytes_.data(), static_cast<std::size_t>(out - bytes_.data())};
  }

 private:
  std::array<char, 4 * kMaxNgramLength> bytes_;
};

constexpr std::array<bool, 256> MakeSignTable() {
  std::array<bool, 256> table{};
  for (const unsigned char sign :
       {'"', '$', '%', '&', '*', '+', '-', '.', '/', '_'}) {
    table[sign] = true;
  }
  return table;
}

// Whether a word has one of the ASCII signs that only runs with signs have
// (further_words.h).
inline bool HasSign(std::string_view word) {
  static constexpr std::array<bool, 256> kSigns = MakeSignTable();
  return std::any_of(word.begin(), word.end(), [](char byte) {
    return kSigns[static_cast<unsigned char>(byte)];
  });
}

template <typename Visitor>
void ForEachWindow(std::string_view word, int ngram_length, Visitor visit) {
  const auto n = static_cast<std::size_t>(ngram_length);
  MarkedWindow marked;
  if (n == 1) visit(std::string_view("#"));
  // [0, end) grows to the n - 1 letters of the first window.
  std::size_t begin = 0, end = 0, letters = 0;
  for (; letters + 1 < n && end < word.size(); ++letters) {
    end += FirstCharacterBytes(word.substr(end));
  }
  if (letters + 1 < n) {  // the marked word is no longer than the window
    visit(marked.Join("#", word, "#"));
    return;
  }
  if (n > 1) visit(marked.Join("#", word.substr(0, end), ""));
  while (end < word.size()) {
    end += FirstCharacterBytes(word.substr(end));
    visit(word.substr(begin, end - begin));
    begin += FirstCharacterBytes(word.substr(begin));
  }
  visit(marked.Join("", word.substr(begin), "#"));
}

// Calls visit(std::string_view ngram) for each n-gram of `word`, in order; the
// view is valid during the call. `word` is not empty and has no blank. In a
// word with signs only n-grams with a sign count: its letters are words of the
// text already.
template <typename Visitor>
void ForEachLetterWindow(std::string_view word, int ngram_length,
                         Visitor visit) {
  if (!HasSign(word)) return ForEachWindow(word, ngram_length, visit);
  ForEachWindow(word, ngram_length, [&](std::string_view ngram) {
    if (HasSign(ngram)) visit(ngram);
  });
}

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_LETTER_WINDOWS_H_
