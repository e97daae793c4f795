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

TEST(NormalizedGrowthTest, CountsCharactersThatBecomeManyWords) {
  EXPECT_EQ(NormalizedGrowth(""), 1);
  EXPECT_EQ(NormalizedGrowth("plain text"), 1);
  EXPECT_EQ(NormalizedGrowth("北京市的公园"), 1);
  EXPECT_EQ(NormalizedGrowth(Utf8(0xFDFA)), 11);
  EXPECT_EQ(NormalizedGrowth(Utf8(0xFDFB)), 3);
  EXPECT_EQ(NormalizedGrowth(Utf8(0x337F)), 3);
  EXPECT_EQ(NormalizedGrowth("abc" + Utf8(0x337F)), 2);
}

TEST(NormalizedGrowthTest, FindsThemAtEveryPlace) {
  for (int before = 0; before < 300; ++before) {
    for (int after = 0; after < 300; after += 7) {
      const std::string text =
          std::string(before, 'a') + Utf8(0xFDFA) + std::string(after, 'a');
      ASSERT_EQ(NormalizedGrowth(text),
                1 + 30.0 / static_cast<double>(text.size()))
          << before << " " << after;
    }
  }
}

// Syllables of Korean become 13 bytes, and cost less than English.
TEST(NormalizedGrowthTest, NoOtherCharacterBecomesMuchMoreWork) {
  for (std::int32_t code_point = 0x80; code_point < 0x20000; ++code_point) {
    if (code_point >= 0xD800 && code_point < 0xE000) continue;  // surrogates
    const std::string text = Utf8(code_point);
    const auto words = NormalizeText(text);
    ASSERT_TRUE(words.ok());
    EXPECT_LE(static_cast<double>(words->size()),
              4.5 * static_cast<double>(text.size()) * NormalizedGrowth(text))
        << std::hex << code_point;
  }
}

}  // namespace
}  // namespace semrank
