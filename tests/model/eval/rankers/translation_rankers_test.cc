// The word and the phrase translation model against scores worked out from the
// formulas in their headers.
#include "model/eval/rankers/translation_rankers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "model/base/interrupt.h"
#include "tests/model/eval/rankers/score_queries.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using Texts = std::vector<std::string>;

// One pair: t(q|w) = 1. With the documents below, P(q|C) = P(w|C) = 2/5 and
// P(x|C) = 1/5.
std::shared_ptr<const TranslationModel> OnePair() {
  return *LearnTranslations(
      std::vector<ClickPair>{{.query = "q", .title = "w"}});
}
const Texts kDocuments = {"w", "w x", "q"};

TEST(TranslationRankerTest, ThreeDocumentsByHand) {
  ASSERT_OK_AND_ASSIGN(
      const auto ranker,
      CreateTranslationRanker(*OnePair(), kDocuments, {0.5, 0.5}));
  EXPECT_EQ(ranker->name(), "wtm");
  // P_mx(q|D) is 1/2 * 1, 1/2 * 1 * 1/2, and, as the log does not translate the
  // title word q, 1.
  ExpectNear(ScoresOf(*ranker, "q"),
             {std::log(2.25), std::log(1.625), std::log(3.5)});
  ExpectNear(ScoresOf(*ranker, "q x"),
             {std::log(2.25), std::log(1.625) + std::log(3.5), std::log(3.5)});
}

TEST(TranslationRankerTest, SmoothingLimits) {
  ASSERT_OK_AND_ASSIGN(
      const auto own_words,
      CreateTranslationRanker(*OnePair(), kDocuments, {0.5, 1}));
  ExpectNear(ScoresOf(*own_words, "q"), {0, 0, std::log(3.5)});
  ASSERT_OK_AND_ASSIGN(
      const auto collection,
      CreateTranslationRanker(*OnePair(), kDocuments, {1, 0.5}));
  ExpectNear(ScoresOf(*collection, "q x"), {0, 0, 0});
}

TEST(TranslationRankerTest, UnknownAndEmptyQueriesScoreZero) {
  ASSERT_OK_AND_ASSIGN(
      const auto ranker,
      CreateTranslationRanker(*OnePair(), {"w", ""}, {0.5, 0.5}));
  ExpectNear(ScoresOf(*ranker, "zebra"), {0, 0});
  ExpectNear(ScoresOf(*ranker, ""), {0, 0});
}

TEST(PhraseRankerTest, PhrasesOfOneWordAreTheWordModel) {
  for (const TranslationSmoothing smoothing :
       {TranslationSmoothing{0.5, 0.5}, {0.2, 1}, {1, 0.5}, {0.3, 0}}) {
    ASSERT_OK_AND_ASSIGN(const auto ptm,
                         CreatePhraseRanker(*OnePair(), kDocuments, smoothing));
    ASSERT_OK_AND_ASSIGN(
        const auto wtm,
        CreateTranslationRanker(*OnePair(), kDocuments, smoothing));
    EXPECT_EQ(ptm->name(), "ptm");
    EXPECT_EQ(ScoresOf(*ptm, "q w x"), ScoresOf(*wtm, "q w x"));
  }
}

TEST(PhraseRankerTest, PhraseIsTranslatedAsAWhole) {
  const auto model = *LearnTranslations(
      std::vector<ClickPair>{{.query = "big apple", .title = "york"}});
  ASSERT_OK_AND_ASSIGN(const auto ranker,
                       CreatePhraseRanker(*model, {"york", "big"}, {0.5, 0.5}));
  // P(big|C) = 1/2, P(apple|C) = 1/4; t of each with york is 1/2, of both
  // together 1. The phrase: 1/2 * 1/2 / (1/2 * 1/2 * 1/2 * 1/4).
  ExpectNear(ScoresOf(*ranker, "big"), {std::log(1.5), std::log(3)});
  ExpectNear(ScoresOf(*ranker, "big apple"), {std::log(8), std::log(3)});
  ExpectNear(ScoresOf(*ranker, "big unknown apple"),
             {std::log(3), std::log(3)});
  ExpectNear(ScoresOf(*ranker, "apple big apple"), {std::log(16), std::log(3)});
}

TEST(TranslationRankersTest, AnInterruptEndsTheTranslationOfDocuments) {
  const auto model = OnePair();
  Interrupt();
  EXPECT_THAT(CreateTranslationRanker(*model, kDocuments, {0.5, 0.5}),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(CreatePhraseRanker(*model, kDocuments, {0.5, 0.5}),
              StatusIs(absl::StatusCode::kCancelled));
  CatchInterrupts();
}

TEST(PhraseRankerTest, QueriesOfACallAreIndependent) {
  ASSERT_OK_AND_ASSIGN(const auto ranker,
                       CreatePhraseRanker(*OnePair(), kDocuments, {0.5, 0.5}));
  const std::vector<std::string_view> queries = {"q x q x q", "", "x"};
  std::vector<float> scores(9, -1);
  ranker->ScoreAll(queries, scores.data());
  for (std::size_t q = 0; q < queries.size(); ++q) {
    EXPECT_EQ(std::vector<float>(scores.begin() + 3 * q,
                                 scores.begin() + 3 * (q + 1)),
              ScoresOf(*ranker, queries[q]));
  }
}

}  // namespace
}  // namespace semrank
