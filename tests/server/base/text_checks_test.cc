#include "server/base/text_checks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "model/text/normalizer.h"
#include "model/text/unicode.h"

namespace semrank {
namespace {

std::string Utf8(std::int32_t code_point) {
  std::string text;
  AppendUtf8(code_point, text);
  return text;
}

TEST(BytesAddedByNormalizingTest, CountsCharactersThatBecomeManyWords) {
  EXPECT_EQ(BytesAddedByNormalizing(""), 0);
  EXPECT_EQ(BytesAddedByNormalizing("plain text"), 0);
  EXPECT_EQ(BytesAddedByNormalizing("北京市的公园"), 0);
  EXPECT_EQ(BytesAddedByNormalizing(Utf8(0xFDFA)), 30);
  EXPECT_EQ(BytesAddedByNormalizing(Utf8(0xFDFB)), 6);
  EXPECT_EQ(BytesAddedByNormalizing(Utf8(0x337F)), 6);
  EXPECT_EQ(BytesAddedByNormalizing("abc" + Utf8(0x337F)), 6);
}

TEST(BytesAddedByNormalizingTest, FindsThemAtEveryPlace) {
  for (int before = 0; before < 300; ++before) {
    for (int after = 0; after < 300; after += 7) {
      const std::string text =
          std::string(before, 'a') + Utf8(0xFDFA) + std::string(after, 'a');
      ASSERT_EQ(BytesAddedByNormalizing(text), 30) << before << " " << after;
    }
  }
}

// Syllables of Korean become 13 bytes, and cost less than English.
TEST(BytesAddedByNormalizingTest, NoOtherCharacterBecomesMuchMoreWork) {
  for (std::int32_t code_point = 0x80; code_point < 0x20000; ++code_point) {
    if (code_point >= 0xD800 && code_point < 0xE000) continue;  // surrogates
    const std::string text = Utf8(code_point);
    const auto words = NormalizeText(text);
    ASSERT_TRUE(words.ok());
    EXPECT_LE(2 * words->size(),
              9 * (text.size() + BytesAddedByNormalizing(text)))
        << std::hex << code_point;
  }
}

}  // namespace
}  // namespace semrank
