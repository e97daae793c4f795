// Steps through UTF-8 that is already known to be valid, such as normalised
// text. On bytes that are not, results are meaningless but nothing outside the
// view is read. (Validation is NormalizeText's.)
#ifndef SEMRANK_MODEL_TEXT_UTF8_H_
#define SEMRANK_MODEL_TEXT_UTF8_H_

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace semrank {

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

// The code point that starts at text[0]. `text` must not be empty.
inline char32_t FirstCodePoint(std::string_view text) {
  const std::size_t length = FirstCharacterBytes(text);
  const auto lead = static_cast<unsigned char>(text[0]);
  if (length == 1) return lead;
  char32_t code_point = lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    code_point =
        (code_point << 6) | (static_cast<unsigned char>(text[i]) & 0x3Fu);
  }
  return code_point;
}

inline std::size_t CountCodePoints(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) {
        return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
      }));
}

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_UTF8_H_
