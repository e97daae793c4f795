#include "model/text/vocabulary_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/text/ngram_vocabulary.h"
#include "model/text/normalizer.h"
#include "tests/support/sanitized.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(VocabularyBuilderTest, WordsComeMostFrequentFirstThenInByteOrder) {
  VocabularyBuilder builder;
  builder.AddText("b a c");
  builder.AddText("c \u00E9 c");
  builder.AddText("");
  EXPECT_EQ(builder.num_distinct_words(), 4);
  EXPECT_THAT(builder.Words(0, 1), ElementsAre("c", "a", "b", "\u00E9"));
  EXPECT_THAT(builder.Words(2, 1), ElementsAre("c", "a"));
  EXPECT_THAT(builder.Words(0, 2), ElementsAre("c"));
  EXPECT_THAT(builder.Words(0, 4), IsEmpty());
}

TEST(VocabularyBuilderTest, NgramsAreCountedOverAllOccurrences) {
  VocabularyBuilder builder;
  builder.AddText("good goo");
  builder.AddText("aaaa good");
  // #go 3, goo 3, od# 2, ood 2, aaa 2 (twice in one word), the rest once.
  EXPECT_THAT(
      builder.LetterNgrams(3, 0, 1),
      ElementsAre("#go", "goo", "aaa", "od#", "ood", "#aa", "aa#", "oo#"));
  EXPECT_THAT(builder.LetterNgrams(3, 0, 3), ElementsAre("#go", "goo"));
  EXPECT_THAT(builder.LetterNgrams(3, 1, 1), ElementsAre("#go"));
  EXPECT_THAT(builder.LetterNgrams(0, 0, 1), IsEmpty());
}

TEST(VocabularyBuilderTest, OrderOfTextsDoesNotMatter) {
  const std::vector<std::string> texts = {"one two", "two three", "four one",
                                          "five"};
  VocabularyBuilder forward, backward;
  for (auto it = texts.begin(); it != texts.end(); ++it) forward.AddText(*it);
  for (auto it = texts.rbegin(); it != texts.rend(); ++it) {
    backward.AddText(*it);
  }
  EXPECT_EQ(forward.Words(0, 1), backward.Words(0, 1));
  EXPECT_EQ(forward.LetterNgrams(3, 0, 1), backward.LetterNgrams(3, 0, 1));
}

TEST(VocabularyBuilderTest, BigramsAreCountedOnDemandAndBounded) {
  VocabularyBuilder builder;
  builder.AddText("a b");
  builder.AddBigrams("a b c");
  builder.AddBigrams("b c a b");
  builder.AddBigrams("c");
  EXPECT_EQ(builder.num_distinct_words(), 2);
  EXPECT_THAT(builder.Bigrams(0, 1), ElementsAre("a b", "b c", "c a"));
  EXPECT_THAT(builder.Bigrams(1, 1), ElementsAre("a b"));
  EXPECT_THAT(builder.Bigrams(0, 2), ElementsAre("a b", "b c"));
  EXPECT_EQ(builder.num_characters(), 2 + 9);
  builder.DropRareBigrams(2);
  EXPECT_THAT(builder.Bigrams(0, 1), ElementsAre("a b", "b c"));
  EXPECT_EQ(builder.num_distinct_bigrams(), 2);
  EXPECT_EQ(builder.num_characters(), 2 + 6);
}

TEST(VocabularyBuilderTest, DroppedWordsLeaveTheirNgrams) {
  VocabularyBuilder builder;
  builder.AddText("aab aab abb abb bba bba caa");
  const std::vector<std::string> ngrams = builder.LetterNgrams(1, 0, 1);
  builder.DropRareWords(4, 1);
  EXPECT_EQ(builder.num_distinct_words(), 4);
  builder.DropRareWords(3, 1);
  EXPECT_THAT(builder.Words(0, 1), ElementsAre("aab", "abb", "bba"));
  EXPECT_EQ(builder.num_distinct_words(), 3);
  EXPECT_EQ(builder.num_characters(), 9);
  EXPECT_EQ(builder.LetterNgrams(1, 0, 1), ngrams);
  EXPECT_THAT(ngrams, ::testing::Contains("c"));
  // The count began again from 0.
  builder.AddText("caa");
  EXPECT_THAT(builder.Words(0, 2), ElementsAre("aab", "abb", "bba"));
}

TEST(VocabularyBuilderTest, NgramsOfDroppedWordsCountAndAreBounded) {
  VocabularyBuilder builder;
  builder.AddText("aaa aaa aaa aaa aab aab bbb");
  builder.DropRareWords(1, 8);
  EXPECT_THAT(builder.Words(0, 1), ElementsAre("aaa"));
  // Words shorter than the window are an n-gram of their own. The more frequent
  // n-gram of the dropped words stays.
  EXPECT_THAT(builder.LetterNgrams(8, 0, 1), ElementsAre("#aaa#", "#aab#"));
}

// Equal counts are kept or forgotten together, so that nothing depends on the
// order of a hash table.
TEST(VocabularyBuilderTest, WordsTiedAtTheLimitAreDroppedTogether) {
  VocabularyBuilder builder;
  builder.AddText("a a b b c d e");
  builder.DropRareWords(3, 3);
  EXPECT_THAT(builder.Words(0, 1), ElementsAre("a", "b"));
}

TEST(CountCollisionsTest, RepeatedWordsAreNoCollisions) {
  const CollisionStatistics statistics =
      CountCollisions({"good", "on", "good", ""}, 2);
  EXPECT_EQ(statistics.num_words, 2);
  EXPECT_EQ(statistics.num_ngrams, 8);  // #g go oo od d# #o on n#
  EXPECT_EQ(statistics.num_collisions, 0);
}

TEST(CountCollisionsTest, SameNgramsInAnotherOrderCollide) {
  // #a ab ba ac ca a#: two ways round.
  const CollisionStatistics two = CountCollisions({"abaca", "acaba"}, 2);
  EXPECT_EQ(two.num_words, 2);
  EXPECT_EQ(two.num_ngrams, 6);
  EXPECT_EQ(two.num_collisions, 1);
  EXPECT_EQ(CountCollisions({"abaca", "acaba"}, 3).num_collisions, 0);
}

TEST(CountCollisionsTest, SameNgramsWithOtherCountsDoNotCollide) {
  EXPECT_EQ(CountCollisions({"aaa", "aaaa"}, 2).num_collisions, 0);
}

TEST(CountCollisionsTest, ThirdWordOfABagIsTheSecondCollision) {
  EXPECT_EQ(
      CountCollisions({"abacada", "acabada", "adacaba"}, 2).num_collisions, 2);
}

TEST(CountCollisionsTest, BadLengthCountsNothing) {
  EXPECT_EQ(CountCollisions({"a"}, 0).num_words, 0);
  EXPECT_EQ(CountCollisions({"a"}, 9).num_words, 0);
}

// Table 1 once more, with strings and ordered containers.
CollisionStatistics PlainStatistics(const std::vector<std::string>& words,
                                    std::size_t n) {
  std::set<std::string> ngrams;
  std::map<std::vector<std::string>, int> words_of_bag;
  const std::set<std::string> distinct(words.begin(), words.end());
  for (const std::string& word : distinct) {
    std::u32string marked = U"#";
    for (const char c : word) marked += static_cast<char32_t>(c);  // ASCII
    marked += U'#';
    std::vector<std::string> bag;
    for (std::size_t i = 0; i + n <= std::max(marked.size(), n); ++i) {
      const std::u32string ngram = marked.substr(i, n);
      bag.emplace_back(ngram.begin(), ngram.end());
    }
    ngrams.insert(bag.begin(), bag.end());
    std::sort(bag.begin(), bag.end());
    ++words_of_bag[bag];
  }
  CollisionStatistics statistics;
  statistics.num_words = static_cast<std::int64_t>(distinct.size());
  statistics.num_ngrams = static_cast<std::int64_t>(ngrams.size());
  statistics.num_collisions =
      statistics.num_words - static_cast<std::int64_t>(words_of_bag.size());
  return statistics;
}

// Words of [a-z0-9] in a list, normalised; empty when there is no such file.
std::vector<std::string> AsciiWords(const std::string& path) {
  std::vector<std::string> words;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto normalized = NormalizeText(line);
    if (!normalized.ok()) continue;
    ForEachWord(*normalized, [&](std::string_view word) {
      const bool ascii =
          std::all_of(word.begin(), word.end(), [](char c) { return c > 0; });
      if (ascii) words.emplace_back(word);
    });
  }
  return words;
}

void ExpectAsPlain(const std::vector<std::string>& words, int n) {
  const CollisionStatistics got = CountCollisions(words, n);
  const CollisionStatistics want =
      PlainStatistics(words, static_cast<std::size_t>(n));
  EXPECT_EQ(got.num_words, want.num_words);
  EXPECT_EQ(got.num_ngrams, want.num_ngrams);
  EXPECT_EQ(got.num_collisions, want.num_collisions);
}

TEST(CountCollisionsTest, AgreesWithPlainCodeOnTheCommittedList) {
  const auto words =
      AsciiWords(std::string(SEMRANK_TESTDATA_DIR) + "/text/words.txt");
  ASSERT_GT(words.size(), 100u);
  for (const int n : {1, 2, 3, 4}) ExpectAsPlain(words, n);
  EXPECT_GT(CountCollisions(words, 1).num_collisions, 0);
  EXPECT_GT(CountCollisions(words, 2).num_collisions, 0);
}

// The wamerican package, where it is installed.
TEST(CountCollisionsTest, AgreesWithPlainCodeOnTheSystemsList) {
  auto words = AsciiWords("/usr/share/dict/american-english");
  if (kSanitized) words.resize(words.size() / 8);
  for (const int n : {2, 3}) ExpectAsPlain(words, n);
}

}  // namespace
}  // namespace semrank
