// Steps through the words of a normalised text (normalizer.h).
#ifndef SEMRANK_MODEL_TEXT_NORMALIZED_TEXT_H_
#define SEMRANK_MODEL_TEXT_NORMALIZED_TEXT_H_

#include <cstddef>
#include <string_view>

namespace semrank {

// Separates the words of a text from its further words.
inline constexpr char kFurtherWords = '\t';

// The words without the further words.
inline std::string_view MainWords(std::string_view normalized) {
  return normalized.substr(0, normalized.find(kFurtherWords));
}

// Calls visit(std::string_view word) for each word of a normalised text, then
// for each further word.
template <typename Visitor>
void ForEachWord(std::string_view normalized, Visitor visit) {
  const std::size_t size = normalized.size();
  for (std::size_t begin = 0; begin < size;) {
    std::size_t end = begin;
    // The separators are the only characters that are not above a blank.
    while (end<size&& static_cast<unsigned char>(normalized[end])> ' ') {
      ++end;
    }
    if (end > begin) visit(normalized.substr(begin, end - begin));
    begin = end + 1;
  }
}

// Calls visit(std::string_view bigram) for each two adjacent words of a
// normalised text, "first second" as they stand there. Further words have no
// order, hence no bigrams.
template <typename Visitor>
void ForEachBigram(std::string_view normalized, Visitor visit) {
  normalized = MainWords(normalized);
  std::size_t begin = 0;
  std::size_t second = normalized.find(' ');
  while (second != std::string_view::npos) {
    const std::size_t end = normalized.find(' ', second + 1);
    visit(normalized.substr(begin, end == std::string_view::npos
                                       ? std::string_view::npos
                                       : end - begin));
    begin = second + 1;
    second = end;
  }
}

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_NORMALIZED_TEXT_H_
