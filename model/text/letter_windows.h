// The sliding window of word hashing (DSSM 3.2) over the code points of one
// marked word, without building "#word#".
#ifndef SEMRANK_MODEL_TEXT_LETTER_WINDOWS_H_
#define SEMRANK_MODEL_TEXT_LETTER_WINDOWS_H_

#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "model/text/ngram_vocabulary.h"
#include "model/text/utf8.h"

namespace semrank {

// A window that holds a mark is put together here; at most kMaxNgramLength
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

// Calls visit(std::string_view ngram) for each n-gram of `word`, in order; the
// view is valid during the call. `word` is not empty and has no blank.
template <typename Visitor>
void ForEachLetterWindow(std::string_view word, int ngram_length,
                         Visitor visit) {
  const auto n = static_cast<std::size_t>(ngram_length);
  MarkedWindow marked;
  if (n == 1) visit(std::string_view("#"));
  // `head` grows to the n - 1 letters of the first window.
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

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_LETTER_WINDOWS_H_
