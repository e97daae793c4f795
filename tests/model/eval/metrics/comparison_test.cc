#include "model/eval/metrics/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace semrank {
namespace {

using ::testing::ElementsAre;

// NDCG@10 and ranking loss of each query.
Evaluation MakeEvaluation(const std::vector<double>& ndcg,
                          const std::vector<double>& losses) {
  Evaluation evaluation;
  for (std::size_t q = 0; q < ndcg.size(); ++q) {
    QueryEvaluation query;
    query.metrics[kNdcgAt10] = ndcg[q];
    query.tuples = {.wrong = losses[q] * 8, .total = 8};
    evaluation.queries.push_back(query);
  }
  return evaluation;
}

TEST(ComparisonTest, EachMetricIsComparedByItself) {
  const Comparison comparison =
      Compare(MakeEvaluation({0.5, 1, 0}, {0.5, 0, 1}),
              MakeEvaluation({0.25, 1, 0.5}, {0.75, 0.5, 1}));
  const PairedComparison& ndcg = comparison.metrics[kNdcgAt10];
  EXPECT_NEAR(ndcg.delta, -0.25 / 3, 1e-15);
  EXPECT_EQ(ndcg.wins, 1u);
  EXPECT_EQ(ndcg.ties, 1u);
  EXPECT_EQ(ndcg.losses, 1u);
  EXPECT_EQ(comparison.metrics[kMap].ties, 3u);
}

TEST(ComparisonTest, LowerRankingLossWins) {
  const Comparison comparison =
      Compare(MakeEvaluation({0, 0, 0}, {0.5, 0, 1}),
              MakeEvaluation({0, 0, 0}, {0.75, 0.5, 1}));
  EXPECT_NEAR(comparison.ranking_loss->delta, -0.25, 1e-15);
  EXPECT_EQ(comparison.ranking_loss->wins, 2u);
  EXPECT_EQ(comparison.ranking_loss->losses, 0u);
}

TEST(ComparisonTest, MostMovedQueriesComeFirstWhateverTheDirection) {
  const std::vector<double> losses(4);
  EXPECT_THAT(MostMovedQueries(MakeEvaluation({0.5, 0, 1, 0.25}, losses),
                               MakeEvaluation({0.25, 1, 1, 0.75}, losses), 2),
              ElementsAre(1, 3));
}

}  // namespace
}  // namespace semrank
