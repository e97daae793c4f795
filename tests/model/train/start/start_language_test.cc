#include "model/train/start/start_language.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "model/text/vocabulary_builder.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

// A start that knows the trigrams of these texts.
Featurizer Knows(const std::vector<ClickPair>& pairs) {
  VocabularyBuilder builder;
  for (const ClickPair& pair : pairs) {
    builder.AddText(pair.query);
    builder.AddText(pair.title);
  }
  return Featurizer::Create(
             NgramVocabulary::FromList(3, builder.LetterNgrams(3, 0, 1))
                 .value(),
             std::nullopt)
      .value();
}

// Words of the letters a to j.
std::vector<ClickPair> NumbersInLetters(int count) {
  std::vector<ClickPair> pairs;
  for (int i = 0; i < count; ++i) {
    std::string word = absl::StrCat(i);
    for (char& letter : word) letter = static_cast<char>(letter - '0' + 'a');
    pairs.push_back({word, word});
  }
  return pairs;
}

TEST(StartLanguageTest, AnotherScriptIsAnotherLanguage) {
  const std::vector<ClickPair> kept = NumbersInLetters(900);
  const Featurizer start = Knows(kept);
  ASSERT_GE(start.num_features(), kDecisiveNgrams);
  StartLanguage same(start, kept);
  same.Add("bca cab dab xyz");
  EXPECT_EQ(same.share().OfWords(), 0.75);
  EXPECT_THAT(same.Check("models/shop"), IsOk());
  StartLanguage other(start, kept);
  other.Add("редактор");
  EXPECT_THAT(other.Check("models/shop"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("another language than models/shop")));
}

TEST(StartLanguageTest, WordsDecideOnceTheStartKnowsEnoughOfThem) {
  const std::vector<ClickPair> kept = NumbersInLetters(1100);
  const Featurizer start = Knows(kept);
  StartLanguage other(start, kept);
  // 8 of 10 trigrams are known, and no word.
  other.Add("abcdabcdx");
  EXPECT_LT(other.share().OfNgrams(), kMinNgramsOfLanguage);
  EXPECT_GT(other.share().OfNgrams(), 0.5);
  EXPECT_THAT(other.Check("models/shop"),
              StatusIs(absl::StatusCode::kInvalidArgument));
  StartLanguage few_words(start, {});
  few_words.Add("abcdabcdx");
  EXPECT_THAT(few_words.Check("models/shop"), IsOk());
}

// As of a model that began from the general one, whose trigrams have those of
// most Latin languages.
TEST(StartLanguageTest, WordsAloneDecideForAStartThatListsMany) {
  VocabularyBuilder builder;
  for (const ClickPair& pair : NumbersInLetters(kWordsOfLanguage)) {
    builder.AddText(pair.query);
  }
  const Featurizer start =
      Featurizer::Create(
          NgramVocabulary::FromList(3, builder.LetterNgrams(3, 0, 1)).value(),
          WordVocabulary::FromList(builder.Words(0, 1)).value())
          .value();
  StartLanguage other(start, {});
  other.Add("bbbbcccc ccccdddd");
  EXPECT_EQ(other.share().OfNgrams(), 1);
  EXPECT_THAT(other.Check("models/shop"),
              StatusIs(absl::StatusCode::kInvalidArgument));
  StartLanguage same(start, {});
  same.Add("bcd ccccdddd");
  EXPECT_THAT(same.Check("models/shop"), IsOk());
}

}  // namespace
}  // namespace semrank
