// The unigram language model, the Markov random field and query expansion
// against scores worked out from the formulas in their headers.
#include "model/eval/rankers/language_model_rankers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "model/eval/rankers/tfidf_ranker.h"
#include "tests/model/eval/rankers/score_queries.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using Texts = std::vector<std::string>;

// a 3, b 2, c 1 of 6 words.
const Texts kLetters = {"a b", "a a c", "b"};

TEST(UnigramRankerTest, ThreeDocumentsByHand) {
  ASSERT_OK_AND_ASSIGN(const auto ranker, CreateUnigramRanker(kLetters, 2));
  EXPECT_EQ(ranker->name(), "ulm");
  // P(a|D) = (tf + 2 * 1/2) / (length + 2), divided by P(a|C) = 1/2; P(c|C)
  // is 1/6.
  ExpectNear(ScoresOf(*ranker, "a"),
             {std::log(1.0), std::log(1.2), std::log(2 / 3.0)});
  ExpectNear(ScoresOf(*ranker, "a c unknown"),
             {std::log(0.5), std::log(1.2 * 1.6), 2 * std::log(2 / 3.0)});
}

TEST(UnigramRankerTest, RepeatedQueryWordCountsTwice) {
  ASSERT_OK_AND_ASSIGN(const auto ranker, CreateUnigramRanker(kLetters, 2));
  const double once = ScoresOf(*ranker, "c")[1];
  EXPECT_NEAR(ScoresOf(*ranker, "c c")[1], 2 * once, 2e-6);
}

TEST(UnigramRankerTest, MuMovesFromTheDocumentToTheCollection) {
  ASSERT_OK_AND_ASSIGN(const auto all, CreateUnigramRanker(kLetters, 1e6));
  ExpectNear(ScoresOf(*all, "a c"), {0, 0, 0}, 1e-4);
  ASSERT_OK_AND_ASSIGN(const auto own, CreateUnigramRanker(kLetters, 1e-6));
  // Shares 2/3 and 1/3 of the words, beside 1/2 and 1/6 of the collection's.
  EXPECT_NEAR(ScoresOf(*own, "a c")[1], std::log(4 / 3.0) + std::log(2), 1e-5);
}

TEST(UnigramRankerTest, UnknownAndEmptyQueriesScoreZero) {
  ASSERT_OK_AND_ASSIGN(const auto ranker, CreateUnigramRanker(kLetters, 2));
  ExpectNear(ScoresOf(*ranker, "zebra"), {0, 0, 0});
  ExpectNear(ScoresOf(*ranker, ""), {0, 0, 0});
}

TEST(UnigramRankerTest, RefusesDocumentsWithoutAnyWord) {
  EXPECT_THAT(CreateUnigramRanker({"", ""}, 1),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(DependenceRankerTest, ThreeDocumentsByHand) {
  ASSERT_OK_AND_ASSIGN(
      const auto ranker,
      CreateDependenceRanker({"x y z", "y x", "z"}, {0.2, 0.1}, /*mu=*/1));
  EXPECT_EQ(ranker->name(), "mrf");
  // Words: 1/3 of the collection each. "x y": once in 6 words. x and y near
  // each other: twice.
  const double third = std::log(1 / 3.0), half = std::log(0.5);
  const double four_thirds = std::log(4 / 3.0);
  ExpectNear(ScoresOf(*ranker, "x y"),
             {0.2 * std::log(7 / 4.0),
              0.7 * 2 * four_thirds + 0.2 * third + 0.1 * four_thirds,
              0.7 * 2 * half + 0.2 * half + 0.1 * half});
}

// As the normaliser writes "go C++" and "C++ go".
TEST(DependenceRankerTest, FurtherWordsHaveNoNeighbours) {
  ASSERT_OK_AND_ASSIGN(
      const auto ranker,
      CreateDependenceRanker({"go c\tc++", "c go\tc++", "x"}, {0.2, 0.1}, 1));
  const std::vector<float> scores = ScoresOf(*ranker, "c\tc++");
  EXPECT_EQ(scores[0], scores[1]);
}

TEST(DependenceRankerTest, WithoutPairsIsTheUnigramModel) {
  ASSERT_OK_AND_ASSIGN(const auto mrf,
                       CreateDependenceRanker(kLetters, {0, 0}, 2));
  ASSERT_OK_AND_ASSIGN(const auto ulm, CreateUnigramRanker(kLetters, 2));
  for (const char* query : {"a b", "c a c", "b unknown a"}) {
    const std::vector<float> want = ScoresOf(*ulm, query);
    ExpectNear(ScoresOf(*mrf, query), {want.begin(), want.end()});
  }
}

TEST(DependenceRankerTest, UnorderedPairIsWithinEightWords) {
  ASSERT_OK_AND_ASSIGN(
      const auto ranker,
      CreateDependenceRanker({"a f f f f f f b f", "a f f f f f f f b"}, {0, 1},
                             /*mu=*/1));
  const std::vector<float> scores = ScoresOf(*ranker, "b a");
  // Equal lengths, and one pair in 18 words: (1 + 1/18) / (1/18).
  EXPECT_NEAR(scores[0] - scores[1], std::log(19), 1e-5);
}

TEST(DependenceRankerTest, UnknownWordSeparatesItsNeighbours) {
  ASSERT_OK_AND_ASSIGN(const auto ranker,
                       CreateDependenceRanker({"x y", "y x"}, {0.5, 0.5}, 1));
  ExpectNear(ScoresOf(*ranker, "x unknown y"), {0, 0});
}

TEST(DependenceRankerTest, RefusesWeightsOutOfRange) {
  for (const DependenceOptions& options :
       {DependenceOptions{-0.1, 0}, DependenceOptions{0.6, 0.5},
        DependenceOptions{kNan, 0}, DependenceOptions{0, kNan}}) {
    EXPECT_THAT(CreateDependenceRanker(kLetters, options, 1),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST(QueryExpansionTest, ThreeDocumentsByHand) {
  ASSERT_OK_AND_ASSIGN(const auto ranker, CreateQueryExpansionRanker(
                                              {"a b", "b c", "d"}, {1, 0.5}));
  EXPECT_EQ(ranker->name(), "qe");
  // "a" finds "a b", whose b finds "b c".
  const double one = std::log(4 / 2.0) + 1, two = std::log(4 / 3.0) + 1;
  const double squares = one * one + two * two;
  ExpectNear(ScoresOf(*ranker, "a"),
             {one / std::sqrt(squares) + 0.5, 0.5 * two * two / squares, 0});
}

TEST(QueryExpansionTest, WeightZeroIsTfidf) {
  ASSERT_OK_AND_ASSIGN(const auto ranker,
                       CreateQueryExpansionRanker(kLetters, {2, 0}));
  ASSERT_OK_AND_ASSIGN(const auto tfidf, TfidfRanker::OfWords(kLetters));
  EXPECT_EQ(ScoresOf(*ranker, "a c"), ScoresOf(*tfidf, "a c"));
}

TEST(QueryExpansionTest, TiedFeedbackDoesNotDependOnTheOrderOfDocuments) {
  ASSERT_OK_AND_ASSIGN(
      const auto ranker,
      CreateQueryExpansionRanker({"a x", "a y", "x", "y"}, {1, 1}));
  ASSERT_OK_AND_ASSIGN(
      const auto reversed,
      CreateQueryExpansionRanker({"y", "x", "a y", "a x"}, {1, 1}));
  std::vector<float> scores = ScoresOf(*ranker, "a");
  EXPECT_GT(scores[2], 0);
  EXPECT_EQ(scores[3], 0);
  std::reverse(scores.begin(), scores.end());
  EXPECT_EQ(scores, ScoresOf(*reversed, "a"));
}

}  // namespace
}  // namespace semrank
