#include "model/eval/translation/phrase_translations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "model/eval/translation/translation_model.h"
#include "tests/support/status_matchers.h"

namespace semrank {

void PrintTo(const PhrasePair& pair, std::ostream* out) {
  *out << "target " << pair.target_begin << ".." << pair.target_end
       << " source " << pair.source_begin << ".." << pair.source_end;
}

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST(ExtractPhrasesTest, UnalignedWordAtTheEdgeMayBelongToThePhrase) {
  EXPECT_THAT(
      ExtractPhrases(2, 3, {{0, 0}, {1, 1}}),
      UnorderedElementsAre(PhrasePair{0, 1, 0, 1}, PhrasePair{0, 2, 0, 2},
                           PhrasePair{0, 2, 0, 3}, PhrasePair{1, 2, 1, 2},
                           PhrasePair{1, 2, 1, 3}));
}

TEST(ExtractPhrasesTest, SwappedWordsAreOnePhraseTogether) {
  EXPECT_THAT(
      ExtractPhrases(2, 2, {{0, 1}, {1, 0}}),
      UnorderedElementsAre(PhrasePair{0, 1, 1, 2}, PhrasePair{0, 2, 0, 2},
                           PhrasePair{1, 2, 0, 1}));
}

TEST(ExtractPhrasesTest, LinkToTheOutsideForbidsAPair) {
  EXPECT_THAT(ExtractPhrases(2, 1, {{0, 0}, {1, 0}}),
              ElementsAre(PhrasePair{0, 2, 0, 1}));
}

TEST(ExtractPhrasesTest, NoPhraseIsLongerThanThreeWords) {
  EXPECT_THAT(ExtractPhrases(1, 4, {{0, 0}, {0, 3}}), IsEmpty());
  EXPECT_THAT(ExtractPhrases(4, 1, {{0, 0}, {3, 0}}), IsEmpty());
}

TEST(PhraseTranslationsTest, TwoQueryWordsForOneTitleWord) {
  const std::vector<ClickPair> pairs = {
      {.query = "big apple", .title = "york"}};
  ASSERT_OK_AND_ASSIGN(const auto model, LearnTranslations(pairs));
  const PhraseTranslations& phrases = model->phrase_translations;
  // Either word alone is linked with a title word that the other shares.
  EXPECT_THAT(phrases.targets(), ElementsAre("big apple"));
  ASSERT_EQ(phrases.Of("york").size(), 1u);
  EXPECT_EQ(phrases.Of("york")[0].probability, 1);
  EXPECT_THAT(phrases.Of("apple"), IsEmpty());
}

TEST(PhraseTranslationsTest, ProbabilitiesAreSharesOfClicks) {
  const std::vector<ClickPair> pairs = {
      {.query = "car", .title = "automobile", .clicks = 3},
      {.query = "auto", .title = "automobile", .clicks = 1}};
  ASSERT_OK_AND_ASSIGN(const auto model, LearnTranslations(pairs));
  const auto translations = model->phrase_translations.Of("automobile");
  ASSERT_EQ(translations.size(), 2u);
  EXPECT_EQ(model->phrase_translations.targets()[translations[0].target],
            "car");
  EXPECT_FLOAT_EQ(translations[0].probability, 0.75);
  EXPECT_FLOAT_EQ(translations[1].probability, 0.25);
}

TEST(TranslationModelTest, RefusesAnEmptyLog) {
  EXPECT_THAT(LearnTranslations(std::vector<ClickPair>()),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace semrank
