// The rules of version 2 and of names: tables of texts in many scripts, and the
// promises of normalizer.h for every text.
#include "model/text/normalizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <utf8proc.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "model/base/strings.h"
#include "model/text/further_words.h"
#include "model/text/ngram_vocabulary.h"
#include "model/text/unicode.h"
#include "tests/model/text/random_text.h"
#include "tests/support/sanitized.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int32_t kStep = kSanitized ? 17 : 1;
constexpr int kNumRandomTexts = kSanitized ? 5'000 : 50'000;

std::string NewestOf(std::string_view text) {
  return NormalizeText(text).value_or("(error)");
}

std::string NameOf(std::string_view text) {
  return NormalizeName(text).value_or("(error)");
}

std::string WordsOf(std::string_view text) {
  return std::string(MainWords(NewestOf(text)));
}

// Replaces \u00AD and \U0001F600 by the characters.
std::string Unescaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_long = text.substr(i, 2) == "\\U";
    if (!is_long && text.substr(i, 2) != "\\u") {
      result += text[i];
      continue;
    }
    const std::size_t digits = is_long ? 8 : 4;
    const std::string number(text.substr(i + 2, digits));
    result += Utf8(static_cast<std::int32_t>(std::stoi(number, nullptr, 16)));
    i += 1 + digits;
  }
  return result;
}

// The lines of tests/testdata/text/normalized.tsv: script, text, words,
// further words.
std::vector<std::vector<std::string>> ReadCases() {
  std::ifstream file(SEMRANK_TESTDATA_DIR "/text/normalized.tsv");
  std::vector<std::vector<std::string>> cases;
  for (std::string line; std::getline(file, line);) {
    cases.push_back(absl::StrSplit(line, '\t'));
  }
  return cases;
}

std::string Joined(const std::string& words, const std::string& further) {
  return further.empty() ? words : words + kFurtherWords + further;
}

TEST(NormalizerTableTest, GivesTheseWords) {
  std::set<std::string> scripts;
  const auto cases = ReadCases();
  for (const std::vector<std::string>& fields : cases) {
    ASSERT_EQ(fields.size(), 4);
    scripts.insert(fields[0]);
    EXPECT_EQ(NewestOf(Unescaped(fields[1])), Joined(fields[2], fields[3]))
        << fields[1];
  }
  EXPECT_GE(cases.size(), 150);
  EXPECT_GE(scripts.size(), 40);
}

// The tables of TEXT.md whose columns are text, words, further words.
TEST(NormalizerTableTest, TableOfTheGuideIsRight) {
  std::ifstream file(SEMRANK_TESTDATA_DIR "/../../model/text/TEXT.md");
  int num_examples = 0;
  bool is_example = false;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("|")) is_example = false;
    if (is_example && !line.starts_with("|---")) {
      std::vector<std::string> cells = absl::StrSplit(line, '|');
      ASSERT_EQ(cells.size(), 5) << line;
      for (std::string& cell : cells) {
        absl::StripAsciiWhitespace(&cell);
        std::erase(cell, '`');
      }
      EXPECT_EQ(NewestOf(Unescaped(cells[1])), Joined(cells[2], cells[3]))
          << line;
      ++num_examples;
    }
    is_example |= line.starts_with("| text | words | further words |");
  }
  EXPECT_GE(num_examples, 30);
}

struct SameCase {
  const char *name, *text, *same;
};

class SameWordsTest : public ::testing::TestWithParam<SameCase> {};

TEST_P(SameWordsTest, SpellingsHaveTheSameWords) {
  EXPECT_EQ(WordsOf(GetParam().text), WordsOf(GetParam().same));
}

INSTANTIATE_TEST_SUITE_P(
    Texts, SameWordsTest,
    ::testing::ValuesIn(std::vector<SameCase>{
        {"SoftHyphen", "photo\u00ADgraph", "photograph"},
        {"ZeroWidthSpace", "photo\u200Bgraph", "photograph"},
        {"WordJoiner", "photo\u2060graph", "photograph"},
        {"PersianNonJoiner", "\u06A9\u062A\u0627\u0628\u200C\u0647\u0627",
         "\u06A9\u062A\u0627\u0628\u0647\u0627"},
        {"VariationSelector", "\u2764\uFE0F", "\u2764"},
        {"TradeMark", "Hitman\u2122", "Hitman"},
        {"Registered", "Lego\u00AE", "Lego"},
        {"Fraction", "1\u00BD inch", "1 1\u20442 inch"},
        {"AcuteAccent", "men\u00B4s", "men's"},
        {"GraveAccent", "men`s", "men's"},
        {"LeftQuote", "men\u2018s", "men's"},
        {"ModifierLetter", "men\u02BCs", "men's"},
        {"Decomposed", "cafe\u0301", "caf\u00E9"},
        {"FullWidth", "\uFF21\uFF22\uFF23", "ABC"},
        {"Directional", "\u202Bshoes\u202C", "shoes"},
        {"ByteOrderMark", "\uFEFFshoes", "shoes"},
        {"Tatweel", "\u0645\u0640\u0635\u0631", "\u0645\u0635\u0631"},
        {"TurkishDot", "\u0130stanbul", "istanbul"}}),
    [](const auto& test) { return test.param.name; });

class OtherSpellingTest : public ::testing::TestWithParam<SameCase> {};

// Words are shared, so that each finds the other, but not all features.
TEST_P(OtherSpellingTest, TextsDiffer) {
  EXPECT_NE(NewestOf(GetParam().text), NewestOf(GetParam().same));
}

INSTANTIATE_TEST_SUITE_P(Texts, OtherSpellingTest,
                         ::testing::ValuesIn(std::vector<SameCase>{
                             {"CPlusPlus", "c++", "c"},
                             {"CSharp", "c#", "c"},
                             {"FSharp", "f#", "f"},
                             {"DotNet", ".net", "net"},
                             {"Compiler", "g++", "g"},
                             {"Emoji", "\u2764\uFE0F", "\u2600\uFE0F"},
                             {"Places", "\u6771\u4EAC", "\u4EAC\u90FD"},
                             {"Accent", "caf\u00E9", "cafe"}}),
                         [](const auto& test) { return test.param.name; });

std::vector<std::string> TrigramsOf(std::string_view text) {
  std::vector<std::string> trigrams;
  ForEachWord(NewestOf(text), [&](std::string_view word) {
    for (std::string& trigram : LetterNgrams(word, 3)) {
      trigrams.push_back(std::move(trigram));
    }
  });
  return trigrams;
}

TEST(NormalizerFeaturesTest, SignsAddTheNgramsThatHaveThem) {
  EXPECT_THAT(TrigramsOf("C"), ElementsAre("#c#"));
  EXPECT_THAT(TrigramsOf("C++"), ElementsAre("#c#", "#c+", "c++", "++#"));
  EXPECT_THAT(TrigramsOf("C#"), ElementsAre("#c#", "#c\u266F", "c\u266F#"));
  EXPECT_THAT(TrigramsOf("at&t"),
              ElementsAre("#at", "at#", "#t#", "at&", "t&t", "&t#"));
  EXPECT_THAT(TrigramsOf("wi-fi"), ElementsAre("#wi", "wi#", "#fi", "fi#"));
}

// In the middle of a run, two characters have features of their own.
TEST(NormalizerFeaturesTest, PartOfAHanRunIsFound) {
  EXPECT_THAT(TrigramsOf("\u516C\u56ED"), ElementsAre("#\u516C#", "#\u56ED#"));
  EXPECT_THAT(TrigramsOf("\u5317\u4EAC\u516C\u56ED"),
              ::testing::IsSupersetOf({"#\u516C#", "#\u56ED#"}));
  std::vector<std::string> bigrams;
  ForEachBigram(NewestOf("\u5317\u4EAC\u516C"),
                [&](std::string_view bigram) { bigrams.emplace_back(bigram); });
  EXPECT_THAT(bigrams, ElementsAre("\u5317 \u4EAC", "\u4EAC \u516C"));
}

TEST(NormalizerFeaturesTest, FurtherWordsHaveNoBigrams) {
  std::vector<std::string> bigrams;
  ForEachBigram("a b\ta-b c",
                [&](std::string_view bigram) { bigrams.emplace_back(bigram); });
  EXPECT_THAT(bigrams, ElementsAre("a b"));
}

TEST(NormalizerTest, ErrorNamesTheByteAndLeavesNothing) {
  std::string normalized = "before";
  EXPECT_THAT(NormalizeText("\u00E9\xFF", kNormalizerVersion, normalized),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("at byte 2 of 3 (value 0xFF)")));
  EXPECT_EQ(normalized, "");
}

TEST(NormalizerTest, UnknownVersionIsAnError) {
  for (const int version : {0, kNormalizerVersion + 1}) {
    EXPECT_THAT(NormalizeText("a", version),
                StatusIs(absl::StatusCode::kInternal));
  }
}

// Takes seconds if each accented word searches the further words before it.
TEST(NormalizerTest, NamesMayHaveManyAccentedWords) {
  std::string name;
  for (int i = 0; i < 300'000; ++i) name += "\u00E9 ";
  const std::string words = NameOf(name);
  EXPECT_EQ(words.size(), 300'000u * 5 - 1);
  EXPECT_TRUE(words.starts_with("e e "));
  EXPECT_TRUE(words.ends_with("\u00E9 \u00E9"));
}

TEST(NormalizerTest, NamesHaveNoAccentsButKeepTheSpelling) {
  EXPECT_EQ(NameOf("Caf\u00E9"), "cafe\tcaf\u00E9");
  EXPECT_EQ(NameOf("C++"), "c\tc++");
  EXPECT_EQ(NameOf("Wi-Fi"), "wi fi\twi-fi");
  EXPECT_EQ(NameOf("\u6771\u4EAC\u30BF\u30EF\u30FC"),
            "\u6771\u4EAC\u30BF\u30EF\u30FC");
  EXPECT_EQ(NameOf("\uD55C\uAD6D"), "\uD55C\uAD6D");
}

TEST(NormalizerTest, AccentsAreRemovedFromValidUtf8Only) {
  std::string plain;
  EXPECT_TRUE(RemoveAccents("caf\u00E9 au lait", plain));
  EXPECT_EQ(plain, "cafe au lait");
  EXPECT_FALSE(RemoveAccents("cafe", plain));
  EXPECT_FALSE(RemoveAccents("caf\u00E9\xFF", plain));
}

// The words of words are the same words.
void ExpectStable(const std::string& text) {
  const std::string once = WordsOf(text);
  ASSERT_EQ(WordsOf(once), once) << text;
  ASSERT_EQ(once.find("  "), std::string::npos) << text;
  if (once.empty()) return;
  ASSERT_NE(once.front(), ' ') << text;
  ASSERT_NE(once.back(), ' ') << text;
  const std::string name(MainWords(NameOf(text)));
  ASSERT_EQ(MainWords(NameOf(name)), name) << text;
}

TEST(NormalizerTest, TwiceIsOnceForEveryCodePoint) {
  for (std::int32_t c = 0; c <= 0x10FFFF; c += kStep) {
    if (IsSurrogate(c)) continue;
    ASSERT_NO_FATAL_FAILURE(ExpectStable(Utf8(c)));
    ASSERT_NO_FATAL_FAILURE(ExpectStable("a" + Utf8(c) + "'s"));
  }
}

TEST(NormalizerTest, TwiceIsOnceForRandomTexts) {
  std::mt19937 random(1);
  for (int i = 0; i < kNumRandomTexts; ++i) {
    ASSERT_NO_FATAL_FAILURE(ExpectStable(RandomText(random, 1 + i % 20)));
  }
}

std::string InForm(const std::string& text, int options) {
  utf8proc_uint8_t* result = nullptr;
  const auto length =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &result,
                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | options));
  std::string form(reinterpret_cast<const char*>(result),
                   static_cast<std::size_t>(length));
  std::free(result);
  return form;
}

TEST(NormalizerTest, CanonicalFormsGiveTheSame) {
  std::mt19937 random(2);
  for (int i = 0; i < kNumRandomTexts; ++i) {
    const std::string text = RandomText(random, 1 + i % 20);
    const std::string want = NewestOf(text);
    ASSERT_EQ(NewestOf(InForm(text, UTF8PROC_COMPOSE)), want) << text;
    ASSERT_EQ(NewestOf(InForm(text, UTF8PROC_DECOMPOSE)), want) << text;
  }
}

// Whether the compatible form of a character means something else: a trade mark
// is not "tm", a fraction not a digit, an acute accent no mark.
bool LosesMeaning(std::int32_t c) {
  return c == 0xB4 || c == 0x1FFD || c == 0x2120 || c == 0x2122 ||
         (c >= 0xBC && c <= 0xBE) || (c >= 0x2150 && c <= 0x215F) ||
         c == 0x2189;
}

TEST(NormalizerTest, CompatibleFormsGiveTheSameWords) {
  for (std::int32_t c = 0; c <= 0x10FFFF; c += kStep) {
    if (IsSurrogate(c) || LosesMeaning(c)) continue;
    const std::string text = "e" + Utf8(c) + "e";
    const std::string want = NewestOf(text);
    for (const int form : {UTF8PROC_COMPOSE, UTF8PROC_DECOMPOSE}) {
      ASSERT_EQ(NewestOf(InForm(text, UTF8PROC_COMPAT | form)), want)
          << "U+" << std::hex << c;
    }
  }
}

TEST(NormalizerTest, AsciiIsAsInVersion1ButForSignsAndAccents) {
  std::mt19937 random(3);
  for (int i = 0; i < kNumRandomTexts; ++i) {
    std::string text = RandomAscii(random, i % 30);
    std::erase(text, '`');
    ASSERT_EQ(WordsOf(text), NormalizeText(text, 1).value()) << text;
  }
}

// ASCII has a path of its own, which other characters leave.
TEST(NormalizerTest, AsciiPathAgreesWithTheOther) {
  std::mt19937 random(4);
  for (int i = 0; i < kNumRandomTexts; ++i) {
    const std::string text = RandomAscii(random, i % 30);
    const std::string other = NewestOf("\u6771 " + text);
    const std::string want = NewestOf(text);
    ASSERT_EQ(other, want.empty()               ? "\u6771"
                     : want[0] == kFurtherWords ? "\u6771" + want
                                                : "\u6771 " + want)
        << text;
  }
}

TEST(NormalizerTest, LongestDecompositionsAreBounded) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "\uFDFA";  // 18 code points each
  EXPECT_LT(NewestOf(text).size(), 16 * text.size());
}

TEST(NormalizerTest, HangulInLettersIsBounded) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "\uAC12";
  EXPECT_LT(NewestOf(text).size(), 5 * text.size());
}

// The text that code points in hexadecimal with blanks between them make.
std::string TextOfCodes(std::string_view codes) {
  std::string text;
  for (const auto& code :
       absl::StrSplit(ToAbsl(codes), ' ', absl::SkipWhitespace())) {
    text += Utf8(std::stoi(std::string(code), nullptr, 16));
  }
  return text;
}

// The lines of a file, or of what a bz2 file has; none if it is not there.
std::vector<std::string> LinesOfBzip2(const std::string& path) {
  std::vector<std::string> lines;
  if (!std::ifstream(path)) return lines;
  FILE* const pipe = popen(("bzip2 -dc " + path).c_str(), "r");
  std::array<char, 1024> line;
  while (std::fgets(line.data(), line.size(), pipe) != nullptr) {
    lines.emplace_back(line.data());
  }
  EXPECT_EQ(pclose(pipe), 0);
  return lines;
}

// NormalizationTest.txt of Debian's unicode-data: each line has a text, its
// NFC, NFD, NFKC and NFKD.
TEST(NormalizerTest, UnicodesOwnFormsGiveTheSame) {
  const auto lines =
      LinesOfBzip2("/usr/share/unicode/NormalizationTest.txt.bz2");
  if (lines.empty()) GTEST_SKIP() << "unicode-data is not installed";
  int num_lines = 0;
  for (const std::string& line : lines) {
    if (line[0] == '#' || line[0] == '@') continue;
    const std::vector<std::string> forms = absl::StrSplit(line, ';');
    const std::string text = TextOfCodes(forms[0]);
    std::int32_t first;
    DecodeFirstOf(text, first);
    for (int form = 1; form < (LosesMeaning(first) ? 3 : 5); ++form) {
      const std::string same = TextOfCodes(forms[form]);
      EXPECT_EQ(NewestOf(same), NewestOf(text)) << line;
      EXPECT_EQ(NameOf(same), NameOf(text)) << line;
    }
    ++num_lines;
  }
  EXPECT_GT(num_lines, 18'000);
}

// emoji-test.txt of Debian's unicode-data: each emoji, fully qualified or not,
// gives the same words.
TEST(NormalizerTest, EveryEmojiIsAWord) {
  std::ifstream file("/usr/share/unicode/emoji/emoji-test.txt");
  if (!file) GTEST_SKIP() << "the package unicode-data is not installed";
  int num_emoji = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::string emoji = TextOfCodes(line.substr(0, line.find(';')));
    const std::string plain = absl::StrReplaceAll(emoji, {{"\uFE0F", ""}});
    ASSERT_EQ(NewestOf(emoji), NewestOf(plain)) << line;
    num_emoji += !NewestOf(emoji).empty();
  }
  EXPECT_GT(num_emoji, 4'000);
}

TEST(ForEachWordTest, VisitsEachWordOnce) {
  std::vector<std::string> words;
  ForEachWord("one two three\tfour five",
              [&](std::string_view word) { words.emplace_back(word); });
  EXPECT_THAT(words, ElementsAre("one", "two", "three", "four", "five"));
  ForEachWord("", [](std::string_view) { FAIL(); });
  ForEachWord("\t", [](std::string_view) { FAIL(); });
}

}  // namespace
}  // namespace semrank
