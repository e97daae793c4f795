#include "model/text/word_vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/text/normalizer.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(WordVocabularyTest, IndexIsThePlaceInTheList) {
  ASSERT_OK_AND_ASSIGN(const WordVocabulary vocabulary,
                       WordVocabulary::FromList({"good", "caf\u00E9", "5"}));
  EXPECT_EQ(vocabulary.size(), 3);
  EXPECT_THAT(vocabulary.words(), ElementsAre("good", "caf\u00E9", "5"));
  EXPECT_EQ(vocabulary.Find("good"), 0u);
  EXPECT_EQ(vocabulary.Find("caf\u00E9"), 1u);
  EXPECT_EQ(vocabulary.Find("5"), 2u);
  EXPECT_EQ(vocabulary.Find("goo"), std::nullopt);
  EXPECT_EQ(vocabulary.Find(""), std::nullopt);
}

TEST(WordVocabularyTest, FindsBigramsAsTheyStandInAText) {
  ASSERT_OK_AND_ASSIGN(const WordVocabulary bigrams,
                       WordVocabulary::FromBigramList({"a b", "b c"}));
  std::vector<std::string> found;
  ForEachBigram("a b c a b", [&](std::string_view bigram) {
    if (bigrams.Find(bigram).has_value()) found.emplace_back(bigram);
  });
  EXPECT_THAT(found, ::testing::ElementsAre("a b", "b c", "a b"));
  ForEachBigram("one", [](std::string_view) { FAIL(); });
  ForEachBigram("", [](std::string_view) { FAIL(); });
}

TEST(WordVocabularyTest, ABigramIsTwoWordsWithOneBlankBetweenThem) {
  for (const char* wrong : {"", "a", " a", "a ", "a  b", "a b c", "a \nb"}) {
    EXPECT_THAT(WordVocabulary::FromBigramList({"x y", wrong}),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         ::testing::HasSubstr("line 2")))
        << wrong;
  }
}

TEST(WordVocabularyTest, UnknownWordsAreHashedBehindTheListedOnes) {
  WordVocabulary vocabulary = *WordVocabulary::FromList({"good", "bad"});
  vocabulary.HashUnknownWords(1000);
  EXPECT_EQ(vocabulary.size(), 1002);
  EXPECT_THAT(vocabulary.words(), ElementsAre("good", "bad"));
  EXPECT_EQ(vocabulary.Find("bad"), 1u);
  // XXH3-64 modulo 1,000, as other programs compute it.
  EXPECT_EQ(vocabulary.Find("ugly"), 400u);
  std::set<std::uint32_t> found;
  for (int i = 0; i < 200; ++i) {
    const auto index = vocabulary.Find("w" + std::to_string(i));
    ASSERT_TRUE(index.has_value());
    EXPECT_GE(*index, 2u);
    EXPECT_LT(*index, 1002u);
    found.insert(*index);
  }
  EXPECT_GT(found.size(), 150u);
}

TEST(WordVocabularyTest, WorksAfterCopyAndMove) {
  WordVocabulary copy = *WordVocabulary::FromList({"x"});
  {
    ASSERT_OK_AND_ASSIGN(WordVocabulary original,
                         WordVocabulary::FromList(
                             {"short", "a-word-too-long-for-small-strings"}));
    copy = original;
    const WordVocabulary moved = std::move(original);
    EXPECT_EQ(moved.Find("short"), 0u);
  }
  EXPECT_EQ(copy.Find("short"), 0u);
  EXPECT_EQ(copy.Find("a-word-too-long-for-small-strings"), 1u);
}

struct BadWordList {
  std::string name;
  std::vector<std::string> words;
  std::string reason;
};

class WordVocabularyBadListTest : public ::testing::TestWithParam<BadWordList> {
};

TEST_P(WordVocabularyBadListTest, IsRefusedWithTheReason) {
  EXPECT_THAT(WordVocabulary::FromList(GetParam().words),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr(GetParam().reason)));
}

INSTANTIATE_TEST_SUITE_P(
    Lists, WordVocabularyBadListTest,
    ::testing::ValuesIn(std::vector<BadWordList>{
        {"Empty", {}, "number of words 0"},
        {"EmptyEntry", {"a", ""}, "line 2 is empty"},
        {"Blank", {"a b"}, "blank or line break"},
        {"LineBreak", {"a\n"}, "blank or line break"},
        {"Twice", {"a", "b", "a"}, "in line 1 and in line 3"}}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace semrank
