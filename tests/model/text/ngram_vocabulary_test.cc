#include "model/text/ngram_vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/text/normalizer.h"
#include "tests/model/text/random_text.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct NgramCase {
  std::string name, word;
  int ngram_length;
  std::vector<std::string> want;
};

class LetterNgramsTest : public ::testing::TestWithParam<NgramCase> {};

TEST_P(LetterNgramsTest, SlideOverTheMarkedWord) {
  EXPECT_EQ(LetterNgrams(GetParam().word, GetParam().ngram_length),
            GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Words, LetterNgramsTest,
    ::testing::ValuesIn(std::vector<NgramCase>{
        {"PaperExample", "good", 3, {"#go", "goo", "ood", "od#"}},
        {"OneLetter", "a", 3, {"#a#"}},
        {"TwoLetters", "ab", 3, {"#ab", "ab#"}},
        {"Repeats", "aaaa", 3, {"#aa", "aaa", "aaa", "aa#"}},
        {"Unigrams", "ab", 1, {"#", "a", "b", "#"}},
        {"Bigrams", "good", 2, {"#g", "go", "oo", "od", "d#"}},
        {"BigramsOfOneLetter", "a", 2, {"#a", "a#"}},
        {"FourGrams", "good", 4, {"#goo", "good", "ood#"}},
        {"ShorterThanWindow", "a", 4, {"#a#"}},
        {"AsLongAsWindow", "ab", 4, {"#ab#"}},
        {"OneShortOfWindow", "abc", 4, {"#abc", "abc#"}},
        {"LongestWindow", "abcdefg", 8, {"#abcdefg", "abcdefg#"}},
        {"CodePointsNotBytes",
         "\u00FCber",
         3,
         {"#\u00FCb", "\u00FCbe", "ber", "er#"}},
        {"Cjk", "\u6771\u4EAC", 3, {"#\u6771\u4EAC", "\u6771\u4EAC#"}},
        {"OneWideCharacter", "\U00020000", 3, {"#\U00020000#"}},
        {"WidestWindow",
         "\U00020000\U00020001\U00020002\U00020003\U00020004\U00020005"
         "\U00020006",
         8,
         {"#\U00020000\U00020001\U00020002\U00020003\U00020004\U00020005"
          "\U00020006",
          "\U00020000\U00020001\U00020002\U00020003\U00020004\U00020005"
          "\U00020006#"}},
        {"EmptyWord", "", 3, {}},
        {"LengthZero", "good", 0, {}},
        {"LengthTooLarge", "good", 9, {}}}),
    [](const auto& test) { return test.param.name; });

std::vector<std::uint32_t> Indices(const NgramVocabulary& vocabulary,
                                   std::string_view word) {
  std::vector<std::uint32_t> indices;
  vocabulary.AppendIndices(word, indices);
  return indices;
}

TEST(NgramVocabularyTest, IndexIsThePlaceInTheList) {
  ASSERT_OK_AND_ASSIGN(
      const NgramVocabulary vocabulary,
      NgramVocabulary::FromList(3, {"ood", "#go", "od#", "goo"}));
  EXPECT_EQ(vocabulary.size(), 4);
  EXPECT_EQ(vocabulary.ngram_length(), 3);
  EXPECT_FALSE(vocabulary.hashed());
  EXPECT_THAT(vocabulary.ngrams(), ElementsAre("ood", "#go", "od#", "goo"));
  EXPECT_THAT(Indices(vocabulary, "good"), ElementsAre(1, 3, 0, 2));
}

TEST(NgramVocabularyTest, UnknownNgramsAreDroppedAndRepeatsKept) {
  ASSERT_OK_AND_ASSIGN(const NgramVocabulary vocabulary,
                       NgramVocabulary::FromList(3, {"aaa", "#b#"}));
  EXPECT_THAT(Indices(vocabulary, "aaaaa"), ElementsAre(0, 0, 0));
  EXPECT_THAT(Indices(vocabulary, "b"), ElementsAre(1));
  EXPECT_THAT(Indices(vocabulary, "xyz"), IsEmpty());
  EXPECT_THAT(Indices(vocabulary, ""), IsEmpty());
}

TEST(NgramVocabularyTest, WordsOfATextAreMarkedEach) {
  for (const int n : {3, 4}) {
    ASSERT_OK_AND_ASSIGN(
        const NgramVocabulary vocabulary,
        NgramVocabulary::FromList(n, {"#a#", "#b#", "a#b", "#\u00E9#", "a# "}));
    EXPECT_THAT(Indices(vocabulary, "a b a"), ElementsAre(0, 1, 0));
    EXPECT_THAT(Indices(vocabulary, "a \u00E9 b"), ElementsAre(0, 3, 1));
  }
}

TEST(NgramVocabularyTest, AppendsToTheIndices) {
  ASSERT_OK_AND_ASSIGN(const NgramVocabulary vocabulary,
                       NgramVocabulary::FromList(3, {"#a#", "#\u00E9#"}));
  std::vector<std::uint32_t> indices = {7};
  vocabulary.AppendIndices("a", indices);
  vocabulary.AppendIndices("\u00E9", indices);
  EXPECT_THAT(indices, ElementsAre(7, 0, 1));
}

TEST(NgramVocabularyTest, AsciiNgramsOfMixedWordsAreFound) {
  ASSERT_OK_AND_ASSIGN(
      const NgramVocabulary vocabulary,
      NgramVocabulary::FromList(3, {"#ca", "f\u00E9#", "caf", "af\u00E9"}));
  EXPECT_THAT(Indices(vocabulary, "caf\u00E9"), ElementsAre(0, 2, 3, 1));
}

// From a list of all n-grams of some words, each word gets its n-grams,
// whichever look-up finds them.
TEST(NgramVocabularyPropertyTest, IndicesNameTheNgramsOfTheWord) {
  std::mt19937 random(4);
  for (const int n : {1, 2, 3, 4, 8}) {
    std::vector<std::string> words, list;
    for (int i = 0; i < 2000; ++i) {
      const std::string text = i % 2 ? RandomText(random, 1 + i % 12)
                                     : RandomAscii(random, 1 + i % 12);
      ForEachWord(*NormalizeText(text),
                  [&](std::string_view word) { words.emplace_back(word); });
    }
    for (const std::string& word : words) {
      for (const std::string& ngram : LetterNgrams(word, n)) {
        list.push_back(ngram);
      }
    }
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    ASSERT_OK_AND_ASSIGN(const NgramVocabulary vocabulary,
                         NgramVocabulary::FromList(n, list));
    for (const std::string& word : words) {
      std::vector<std::string> ngrams;
      for (const std::uint32_t index : Indices(vocabulary, word)) {
        ngrams.push_back(vocabulary.ngrams().at(index));
      }
      ASSERT_EQ(ngrams, LetterNgrams(word, n)) << word << " " << n;
    }
  }
}

TEST(NgramVocabularyTest, WorksAfterCopyAndMove) {
  for (const int n : {3, 4}) {
    NgramVocabulary copy = *NgramVocabulary::FromList(n, {"zzz"});
    {
      ASSERT_OK_AND_ASSIGN(
          NgramVocabulary original,
          NgramVocabulary::FromList(n, {"#a#", "\u6771#", "#\u6771#"}));
      copy = original;
      const NgramVocabulary moved = std::move(original);
      EXPECT_THAT(Indices(moved, "a"), ElementsAre(0));
    }
    EXPECT_THAT(Indices(copy, "a"), ElementsAre(0));
    EXPECT_THAT(Indices(copy, "\u6771"), ElementsAre(2));
  }
}

struct BadNgramList {
  std::string name;
  int ngram_length;
  std::vector<std::string> ngrams;
  std::string reason;
};

class NgramVocabularyBadListTest
    : public ::testing::TestWithParam<BadNgramList> {};

TEST_P(NgramVocabularyBadListTest, IsRefusedWithTheReason) {
  EXPECT_THAT(
      NgramVocabulary::FromList(GetParam().ngram_length, GetParam().ngrams),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr(GetParam().reason)));
}

INSTANTIATE_TEST_SUITE_P(
    Lists, NgramVocabularyBadListTest,
    ::testing::ValuesIn(std::vector<BadNgramList>{
        {"Empty", 3, {}, "number of n-grams 0"},
        {"LengthZero", 0, {"a"}, "length 0 is not in [1, 8]"},
        {"LengthNine", 9, {"a"}, "length 9 is not in [1, 8]"},
        {"EmptyEntry", 3, {"abc", ""}, "line 2 is empty"},
        {"LineFeed", 3, {"a\nb"}, "line break"},
        {"CarriageReturn", 3, {"ab\r"}, "line break"},
        {"TooLong", 3, {"#go", "good"}, "\"good\" in line 2 is too long"},
        {"Twice", 3, {"abc", "x", "abc"}, "in line 1 and in line 3"}}),
    [](const auto& test) { return test.param.name; });

TEST(HashedNgramVocabularyTest, RefusesBadSizes) {
  for (const int buckets : {-1, 0, kMaxVocabularySize + 1}) {
    EXPECT_THAT(NgramVocabulary::Hashed(3, buckets),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("number of hash buckets")));
  }
  EXPECT_THAT(NgramVocabulary::Hashed(9, 10),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

// From `printf %s '#go' | xxhsum -H3`, modulo the number of buckets. Models in
// the field depend on these values: they must never change.
TEST(HashedNgramVocabularyTest, HashHasGoldenValues) {
  ASSERT_OK_AND_ASSIGN(const NgramVocabulary trigrams,
                       NgramVocabulary::Hashed(3, 30000));
  EXPECT_THAT(Indices(trigrams, "good"), ElementsAre(123, 17797, 18653, 19364));
  EXPECT_THAT(Indices(trigrams, "\u6771\u4EAC"), ElementsAre(132, 6836));
  ASSERT_OK_AND_ASSIGN(const NgramVocabulary larger,
                       NgramVocabulary::Hashed(3, 1 << 20));
  EXPECT_THAT(Indices(larger, "good"),
              ElementsAre(863499, 245941, 1034477, 379188));
  ASSERT_OK_AND_ASSIGN(const NgramVocabulary sixgrams,
                       NgramVocabulary::Hashed(6, 30000));
  EXPECT_THAT(Indices(sixgrams, "good"), ElementsAre(22775));
}

TEST(HashedNgramVocabularyTest, NothingIsDropped) {
  ASSERT_OK_AND_ASSIGN(const NgramVocabulary vocabulary,
                       NgramVocabulary::Hashed(3, 10));
  EXPECT_TRUE(vocabulary.hashed());
  EXPECT_EQ(vocabulary.size(), 10);
  EXPECT_THAT(vocabulary.ngrams(), IsEmpty());
  std::mt19937 random(5);
  for (int i = 0; i < 2000; ++i) {
    ForEachWord(*NormalizeText(RandomText(random, 8)), [&](auto word) {
      const auto indices = Indices(vocabulary, word);
      ASSERT_EQ(indices.size(), LetterNgrams(word, 3).size());
      for (const std::uint32_t index : indices) ASSERT_LT(index, 10u);
    });
  }
}

}  // namespace
}  // namespace semrank
