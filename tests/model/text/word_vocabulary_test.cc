#include "model/text/word_vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

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
