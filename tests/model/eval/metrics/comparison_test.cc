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

TEST(ComparisonTest, QueriesAreCountedByTheGradesOfTheirFirstDocuments) {
  Collection collection;
  collection.documents.resize(4);
  // Documents 0, 1 and 2 have the grades 2, -1 and 1; 3 is not judged.
  collection.queries =
      std::vector<JudgedQuery>(3, {"q", "text", {{0, 2}, {1, -1}, {2, 1}}, {}});
  const auto ranking = [](const std::vector<std::uint32_t>& first_documents) {
    Evaluation evaluation = MakeEvaluation({0, 0, 0}, {0, 0, 0});
    for (std::uint32_t q = 0; q < 3; ++q) {
      evaluation.queries[q].query = q;
      evaluation.queries[q].run = {{first_documents[q], 1}, {0, 0}};
    }
    return evaluation;
  };
  Evaluation better = ranking({0, 2, 0});
  better.queries[2].run.clear();
  EXPECT_THAT(TopGrades(better, collection), ElementsAre(2, 1, 0));
  const Evaluation baseline = ranking({1, 2, 3});
  EXPECT_THAT(TopGrades(baseline, collection), ElementsAre(0, 1, 0));
  EXPECT_THAT(TopGradeMatrix(better, baseline, collection),
              ElementsAre(ElementsAre(1, 0, 0), ElementsAre(0, 1, 0),
                          ElementsAre(1, 0, 0)));
}

TEST(ComparisonTest, FirstDocumentsOfARunNeedNotBeInTheCollection) {
  Collection collection;
  collection.document_ids = {"a"};
  collection.documents = {"title"};
  collection.queries = {{"q", "text", {}, {{"b", 2}, {"c", 50}}}};
  const auto top = [&](std::uint32_t document) {
    Evaluation evaluation = MakeEvaluation({0}, {0});
    evaluation.unknown_ids = {"b", "c", "d"};
    evaluation.queries[0].run = {{document, 1}};
    return TopGrades(evaluation, collection).front();
  };
  EXPECT_EQ(top(1), 2);
  EXPECT_EQ(top(2), kMaxTopGrade);
  EXPECT_EQ(top(3), 0);
}

}  // namespace
}  // namespace semrank
