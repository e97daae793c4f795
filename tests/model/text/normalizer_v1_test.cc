// The rules of version 1, on which published models depend.
#include "model/text/normalizer_v1.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <utf8proc.h>

#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "model/text/normalizer.h"
#include "tests/model/text/random_text.h"
#include "tests/support/sanitized.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

// Every code point; with a sanitizer every one of a prime step.
constexpr std::int32_t kCodePointStep = kSanitized ? 17 : 1;
constexpr int kNumTexts = kSanitized ? 5'000 : 50'000;

std::string Normalized(std::string_view text) {
  const absl::StatusOr<std::string> result = NormalizeText(text, 1);
  EXPECT_THAT(result, IsOk());
  return result.ok() ? *result : "(error)";
}

struct GoldenCase {
  std::string name;
  std::string_view text, want;
};

class NormalizerV1GoldenTest : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(NormalizerV1GoldenTest, GivesTheseWords) {
  EXPECT_EQ(Normalized(GetParam().text), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, NormalizerV1GoldenTest,
    ::testing::ValuesIn(std::vector<GoldenCase>{
        {"Empty", "", ""},
        {"OnlyBlanks", " \t ", ""},
        {"OnlyPunctuation", "?!... --", ""},
        {"LowerCase", "Semantic RANKING", "semantic ranking"},
        {"PunctuationSplits", "C++/C#, under_score", "c c under score"},
        {"TabsAndLines", "\ta\tb\r\nc\n", "a b c"},
        {"Nul", std::string_view("a\0b", 3), "a b"},
        {"Numbers", "3.5 inch, 2nd", "3 5 inch 2nd"},
        {"ApostropheInWord", "McDonald's", "mcdonalds"},
        {"TypographicApostrophe", "McDonald\u2019s", "mcdonalds"},
        {"FullWidthApostrophe", "McDonald\uFF07s", "mcdonalds"},
        {"ManyApostrophes", "rock'n'roll 5'9", "rocknroll 59"},
        {"ApostrophesAsQuotes", "the dogs' 'bed'", "the dogs bed"},
        {"TwoApostrophes", "a''b '' c", "a b c"},
        {"ApostropheAfterMark", "x\u0300's", "x\u0300s"},
        {"ApostropheWithMark", "e'\u0301a", "e \u0301a"},
        {"ApostropheBetweenHangulLetters", "\u1112'\u1161'\u11AB", "\uD55C"},
        {"ModifierLetterIsALetter", "p\u02BCs", "p\u02BCs"},
        {"Ligature", "\uFB01ne o\uFB03ce", "fine office"},
        {"SharpS", "Stra\u00DFe STRA\u1E9EE", "strasse strasse"},
        {"DottedCapitalI", "\u0130stanbul", "i\u0307stanbul"},
        {"FinalSigma", "\u03A3\u03BF\u03C6\u03CC\u03C2",
         "\u03C3\u03BF\u03C6\u03CC\u03C3"},
        {"IotaSubscriptOutOfOrder", "\u03B1\u0345\u0301", "\u03AC\u03B9"},
        {"FoldRecomposes", "\u01F0", "\u01F0"},
        {"FullWidth", "\uFF21\uFF22\uFF23\uFF11\uFF12", "abc12"},
        {"CombiningAccent", "Cafe\u0301", "caf\u00E9"},
        {"MarksOutOfOrder", "q\u0307\u0323", "q\u0323\u0307"},
        {"Cjk", "\u6771\u4EAC\u3001\u65E5\u672C", "\u6771\u4EAC \u65E5\u672C"},
        {"HalfWidthKatakana", "\uFF76\uFF9E\uFF70", "\u30AC\u30FC"},
        {"Devanagari", "\u0928\u092E\u0938\u094D\u0924\u0947",
         "\u0928\u092E\u0938\u094D\u0924\u0947"},
        {"Emoji", "I \u2764 NY \U0001F600!", "i ny"},
        {"VariationSelectorIsAMark", "a\uFE0F", "a\uFE0F"},
        {"ZeroWidth", "zero\u200Bwidth\uFEFF no\u2060break",
         "zero width no break"},
        {"NoBreakSpace", "a\u00A0b\u3000c", "a b c"},
        {"AccentAlone", "a\u00B4b", "a \u0301b"},
        {"NegatedSign", "a=\u0338b", "a b"},
        {"Superscript", "mm\u00B2", "mm2"},
        {"Fraction", "\u00BD", "1 2"},
        {"RomanNumeral", "\u216B", "xii"},
        {"OtherDigits", "\u0663\u0664", "\u0663\u0664"},
        {"PrivateUse", "a\uE000b", "a b"},
        {"Noncharacter", "a\uFFFEb", "a b"},
        {"Replacement", "a\uFFFD", "a"}}),
    [](const auto& test) { return test.param.name; });

struct InvalidCase {
  std::string name;
  std::string_view text, where;
};

class NormalizerV1InvalidTest : public ::testing::TestWithParam<InvalidCase> {};

TEST_P(NormalizerV1InvalidTest, IsRefusedWithTheByteOffset) {
  EXPECT_THAT(NormalizeText(GetParam().text, 1),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr(std::string(GetParam().where))));
}

INSTANTIATE_TEST_SUITE_P(
    Texts, NormalizerV1InvalidTest,
    ::testing::ValuesIn(std::vector<InvalidCase>{
        {"LoneContinuation", "ab\x80", "at byte 2 of 3 (value 0x80)"},
        {"Truncated2", "ab\xC3", "at byte 2 of 3"},
        {"Truncated3", "\xE2\x82", "at byte 0 of 2"},
        {"Truncated4", "\xC3\xA9\xF0\x9F\x98", "at byte 2 of 5"},
        {"WrongContinuation", "\xC3(", "at byte 0"},
        {"Overlong2", "a\xC0\x80", "at byte 1"},
        {"Overlong2Last", "\xC1\xBF", "at byte 0"},
        {"Overlong3", "\xE0\x9F\xBF", "at byte 0"},
        {"Overlong4", "\xF0\x8F\xBF\xBF", "at byte 0"},
        {"HighSurrogate", "abc\xED\xA0\x80", "at byte 3"},
        {"LowSurrogate", "abc\xED\xBF\xBF", "at byte 3"},
        {"AboveUnicode", "\xF4\x90\x80\x80", "at byte 0"},
        {"LeadF5", "\xF5\x80\x80\x80", "at byte 0"},
        {"LeadFf", "don'\xFFt", "at byte 4"}}),
    [](const auto& test) { return test.param.name; });

TEST(NormalizerV1Test, ErrorLeavesNothingBehind) {
  std::string normalized = "before";
  EXPECT_THAT(NormalizeTextV1("a\xFF", normalized),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(normalized, "");
}

TEST(NormalizerV1Test, ReplacesWhatTheStringHeld) {
  std::string normalized = "something longer than the result";
  ASSERT_THAT(NormalizeTextV1("A", normalized), IsOk());
  EXPECT_EQ(normalized, "a");
  ASSERT_THAT(NormalizeTextV1("\u00C9", normalized), IsOk());
  EXPECT_EQ(normalized, "\u00E9");
}

// Words joined by single blanks, of letters, marks and numbers only, and
// unchanged when normalised again.
void ExpectNormal(const std::string& normalized, const std::string& from) {
  ASSERT_EQ(Normalized(normalized), normalized) << "from " << from;
  if (normalized.empty()) return;
  ASSERT_NE(normalized.front(), ' ') << from;
  ASSERT_NE(normalized.back(), ' ') << from;
  ASSERT_EQ(normalized.find("  "), std::string::npos) << from;
}

TEST(NormalizerV1PropertyTest, TwiceIsOnceForEveryCodePoint) {
  for (std::int32_t c = 0; c <= 0x10FFFF; c += kCodePointStep) {
    if (IsSurrogate(c)) continue;
    const std::string character = Utf8(c);
    for (const std::string& text :
         {character, std::string("a").append(character).append("'s")}) {
      const std::string once = Normalized(text);
      const std::string twice = Normalized(once);
      ASSERT_EQ(once, twice) << "U+" << std::hex << c;
    }
  }
}

TEST(NormalizerV1PropertyTest, EverySurrogateIsRefused) {
  for (std::int32_t c = 0xD800; c <= 0xDFFF; ++c) {
    const char bytes[] = {'\xED', static_cast<char>(0x80 | ((c >> 6) & 0x3F)),
                          static_cast<char>(0x80 | (c & 0x3F))};
    ASSERT_THAT(NormalizeText(std::string_view(bytes, 3), 1),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST(NormalizerV1PropertyTest, TwiceIsOnceForRandomTexts) {
  std::mt19937 random(1);
  for (int i = 0; i < kNumTexts; ++i) {
    const std::string text = RandomText(random, 1 + i % 20);
    const std::string normalized = Normalized(text);
    ASSERT_NO_FATAL_FAILURE(ExpectNormal(normalized, text));
  }
}

TEST(NormalizerV1PropertyTest, FastPathAgreesWithTheFullOneOnAscii) {
  // A mark sends the whole text down the full path.
  std::mt19937 random(2);
  for (int i = 0; i < kNumTexts; ++i) {
    const std::string text = RandomAscii(random, i % 30);
    const std::string fast = Normalized(text);
    const std::string full = Normalized("\u0301 " + text);
    ASSERT_EQ("\u0301" + (fast.empty() ? "" : " " + fast), full) << text;
  }
}

// The rules written down once more, with utf8proc's whole-string functions,
// strings instead of buffers, and no attention to speed.
std::string Mapped(const std::string& text, int options) {
  utf8proc_uint8_t* result = nullptr;
  const auto length = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
      static_cast<utf8proc_ssize_t>(text.size()), &result,
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPAT |
                                     UTF8PROC_COMPOSE | options));
  std::string mapped(reinterpret_cast<const char*>(result),
                     static_cast<std::size_t>(length));
  std::free(result);
  return mapped;
}

std::string FoldedReference(std::string text) {
  std::string before;
  for (text = Mapped(text, 0); text != before;) {
    before = text;
    text = Mapped(text, UTF8PROC_CASEFOLD);
  }
  return text;
}

std::vector<std::string> Characters(const std::string& text) {
  std::vector<std::string> characters;
  for (const char byte : text) {
    if ((byte & 0xC0) != 0x80) characters.emplace_back();
    characters.back() += byte;
  }
  return characters;
}

char CategoryLetter(const std::string& character) {
  utf8proc_int32_t code_point;
  utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(character.data()),
                   static_cast<utf8proc_ssize_t>(character.size()),
                   &code_point);
  return utf8proc_category_string(code_point)[0];
}

std::string Reference(const std::string& text) {
  const std::vector<std::string> in = Characters(FoldedReference(text));
  const auto is = [&](std::size_t i, std::string_view categories) {
    return i < in.size() &&
           categories.find(CategoryLetter(in[i])) != std::string_view::npos;
  };
  std::string spaced;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const bool apostrophe = in[i] == "'" || in[i] == "\u2019";
    if (apostrophe && i > 0 && is(i - 1, "LMN") && is(i + 1, "LN")) continue;
    spaced += is(i, "LMN") ? in[i] : " ";
  }
  spaced = FoldedReference(spaced);
  std::string words;
  for (const char c : spaced) {
    if (c != ' ' || (!words.empty() && words.back() != ' ')) words += c;
  }
  if (!words.empty() && words.back() == ' ') words.pop_back();
  return words;
}

TEST(NormalizerV1PropertyTest, AgreesWithTheRulesWrittenPlainly) {
  std::mt19937 random(3);
  for (int i = 0; i < kNumTexts; ++i) {
    const std::string text = RandomText(random, 1 + i % 20);
    ASSERT_EQ(Normalized(text), Reference(text)) << text;
  }
}

// No marks and no Hangul letters: the texts that the fast path is for.
TEST(NormalizerV1PropertyTest, FastPathAgreesWithTheRulesWrittenPlainly) {
  std::mt19937 random(8);
  for (int i = 0; i < kNumTexts; ++i) {
    std::string text;
    for (const std::string& c : Characters(RandomText(random, 1 + i % 20))) {
      const bool hangul = c >= "\u1100" && c <= "\u11FF";
      if (CategoryLetter(c) != 'M' && !hangul) text += c;
    }
    ASSERT_EQ(Normalized(text), Reference(text)) << text;
  }
}

TEST(NormalizerV1PropertyTest, AgreesWithThePlainRulesOnEveryCodePoint) {
  for (std::int32_t c = 0; c <= 0x10FFFF; c += kCodePointStep) {
    if (IsSurrogate(c)) continue;
    const std::string text = std::string("e").append(Utf8(c)).append("\u1161e");
    ASSERT_EQ(Normalized(text), Reference(text)) << "U+" << std::hex << c;
  }
}

// Sorting marks by exchanging neighbours would take hours here.
TEST(NormalizerV1HostileTest, MegabyteOfUnorderedMarksIsSorted) {
  std::string text = "a";
  for (int i = 0; i < 250000; ++i) text += "\u0301\u0323";
  const std::string normalized = Normalized(text);
  // "a" composes with the first mark of the lower class.
  ASSERT_EQ(normalized.substr(0, 5), "\u1EA1\u0323");
  EXPECT_EQ(normalized.size(), text.size());
  EXPECT_EQ(normalized.substr(normalized.size() - 4), "\u0301\u0301");
}

TEST(NormalizerV1HostileTest, MegabyteOfLongestDecompositionsIsBounded) {
  std::string text;
  for (int i = 0; i < 350000; ++i) text += "\uFDFA";  // 18 code points each
  const std::string normalized = Normalized(text);
  EXPECT_LT(normalized.size(), 12 * text.size());
  ExpectNormal(normalized.substr(0, normalized.find(' ')), "U+FDFA");
}

TEST(NormalizerV1HostileTest, MegabyteOfApostrophesIsEmpty) {
  EXPECT_EQ(Normalized(std::string(1 << 20, '\'')), "");
  EXPECT_EQ(Normalized(std::string(1 << 20, '\'') + "\u2019"), "");
}

// ASCII is read eight bytes at a time, other text character by character.
TEST(NormalizeTextV1Test, PlaceInTheTextDoesNotMatter) {
  for (const char* text : {"McDonald's", "' b '", "a''b", "A--Z\t,5",
                           "Caf\u00C9", "\u65E5\u672C", "e'\u0301a"}) {
    for (std::size_t i = 1; i < 20; ++i) {
      const std::string before(i, 'X'), after(20 - i, 'Y');
      const std::string want_before(i, 'x'), want_after(20 - i, 'y');
      EXPECT_EQ(Normalized(before + " " + text + " " + after),
                want_before + " " + Normalized(text) + " " + want_after);
    }
  }
}

}  // namespace
}  // namespace semrank
