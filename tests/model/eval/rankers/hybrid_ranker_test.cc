#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "model/eval/rankers/combined_rankers.h"
#include "tests/model/eval/rankers/table_ranker.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;

// Powers of two: the sums are exact.
std::unique_ptr<Ranker> MakeHybrid(double weight) {
  return CreateHybridRanker(
      std::make_unique<TableRanker>(
          "model", TableRanker::Table{{"q", {0.5f, 0.25f, 0}},
                                      {"unknown words", {1, 2, 3}}}),
      std::make_unique<TableRanker>(
          "bm25",
          TableRanker::Table{{"q", {0, 8, 4}}, {"unknown words", {0, 0, 0}}}),
      weight);
}

std::vector<float> HybridScores(const Ranker& ranker, std::string_view query) {
  std::vector<float> scores(ranker.num_documents());
  ranker.ScoreAll(std::span(&query, 1), scores.data());
  return scores;
}

TEST(HybridRankerTest, IsNamedAfterBoth) {
  EXPECT_EQ(MakeHybrid(1)->name(), "model+bm25");
}

TEST(HybridRankerTest, BestSecondScoreCountsAsTheWeight) {
  EXPECT_THAT(HybridScores(*MakeHybrid(2), "q"), ElementsAre(0.5f, 2.25f, 1));
}

TEST(HybridRankerTest, WeightZeroIsTheFirstRanker) {
  EXPECT_THAT(HybridScores(*MakeHybrid(0), "q"), ElementsAre(0.5f, 0.25f, 0));
}

TEST(HybridRankerTest, FirstDecidesWhereTheSecondFindsNothing) {
  EXPECT_THAT(HybridScores(*MakeHybrid(2), "unknown words"),
              ElementsAre(1, 2, 3));
}

TEST(HybridRankerTest, ScoreDoesNotDependOnTheOtherCandidates) {
  const auto ranker = MakeHybrid(2);
  const std::vector<std::uint32_t> documents = {2, 0};
  std::vector<float> scores(2);
  ranker->ScoreSome("q", documents, scores);
  EXPECT_THAT(scores, ElementsAre(1, 0.5f));
}

}  // namespace
}  // namespace semrank
