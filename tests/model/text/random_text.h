// Random texts that are unkind to Unicode code: letters mixed with apostrophes,
// combining marks of several classes, Hangul letters that compose, ligatures,
// and code points from anywhere. The same for the same generator state.
#ifndef SEMRANK_TESTS_MODEL_TEXT_RANDOM_TEXT_H_
#define SEMRANK_TESTS_MODEL_TEXT_RANDOM_TEXT_H_

#include <utf8proc.h>

#include <cstdint>
#include <iterator>
#include <random>
#include <string>

#include "model/text/unicode.h"

namespace semrank {

// Encodes one code point; surrogates too, which gives invalid UTF-8.
inline std::string Utf8(std::int32_t code_point) {
  utf8proc_uint8_t bytes[4];
  const auto length = utf8proc_encode_char(code_point, bytes);
  return std::string(reinterpret_cast<const char*>(bytes),
                     static_cast<std::size_t>(length));
}

inline std::string RandomAscii(std::mt19937& random, int length) {
  static constexpr char kUsual[] = "abcXYZ019'' -.";
  std::string text;
  for (int i = 0; i < length; ++i) {
    const auto draw = random();
    text += draw % 4 == 0 ? static_cast<char>(draw / 4 % 128)
                          : kUsual[draw / 4 % (sizeof(kUsual) - 1)];
  }
  return text;
}

inline std::string RandomText(std::mt19937& random, int length) {
  struct Range {
    std::int32_t first, last;
  };
  static constexpr Range kRanges[] = {
      {'a', 'z'},       {'A', 'Z'},        {' ', '/'},       {'\'', '\''},
      {0x2019, 0x2019}, {0xFF07, 0xFF07},  {0xA0, 0x17F},    {0x300, 0x36F},
      {0x345, 0x345},   {0x370, 0x3FF},    {0x1100, 0x11FF}, {0x1E00, 0x1FFF},
      {0x200B, 0x206F}, {0xAC00, 0xAC40},  {0xFB00, 0xFB06}, {0x9BE, 0x9D7},
      {0, 0xD7FF},      {0xE000, 0x10FFFF}};
  std::string text;
  for (int i = 0; i < length; ++i) {
    const Range range = kRanges[random() % std::size(kRanges)];
    const auto width = static_cast<std::uint32_t>(range.last - range.first + 1);
    text += Utf8(range.first + static_cast<std::int32_t>(random() % width));
  }
  return text;
}

}  // namespace semrank

#endif  // SEMRANK_TESTS_MODEL_TEXT_RANDOM_TEXT_H_
