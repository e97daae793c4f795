#include "model/eval/evaluation_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace semrank {
namespace {

using ::testing::ElementsAre;

Evaluation MakeEvaluation() {
  Evaluation evaluation;
  evaluation.ranker = "bm25";
  evaluation.queries.resize(2);
  evaluation.summary.mean = {0.125, 0.25, 0.5, 0.75, 1, 0.0625};
  evaluation.summary.standard_error = {0.5, 0, 0, 0, 0, 0.25};
  return evaluation;
}

TEST(EvaluationOutputTest, JsonIsOneObjectOnALine) {
  EXPECT_EQ(FormatJson(MakeEvaluation(), {.candidates = Candidates::kJudged,
                                          .gain = Gain::kLinear}),
            R"({"ranker":"bm25","queries":2,"metrics":{"ndcg@1":0.125,)"
            R"("ndcg@3":0.25,"ndcg@10":0.5,"map":0.75,"mrr":1.0,)"
            R"("p@10":0.0625},"standard_errors":{"ndcg@1":0.5,"ndcg@3":0.0,)"
            R"("ndcg@10":0.0,"map":0.0,"mrr":0.0,"p@10":0.25},)"
            R"("candidates":"judged","gain":"linear"})"
            "\n");
}

TEST(EvaluationOutputTest, TableSaysWhatWasEvaluated) {
  Collection collection;
  collection.documents.resize(3);
  collection.queries = {{"q", "", {{0, 1}}, {}}, {"none", "", {}, {}}};
  EXPECT_EQ(FormatTableHead(collection, {}),
            "1 queries, 3 documents, candidates: all documents, gain: "
            "2^grade - 1\n\n"
            "ranker               ndcg@1   ndcg@3  ndcg@10      map      mrr"
            "     p@10    rloss\n");
}

TEST(EvaluationOutputTest, TableRowsHaveMeansAndStandardErrors) {
  EXPECT_EQ(FormatTableRows(MakeEvaluation()),
            "bm25                 0.1250   0.2500   0.5000   0.7500   1.0000"
            "   0.0625\n"
            "  +-                 0.5000   0.0000   0.0000   0.0000   0.0000"
            "   0.2500\n");
}

TEST(EvaluationOutputTest, RankingLossIsOverTuplesAndLeftOutWithoutThem) {
  Evaluation evaluation = MakeEvaluation();
  evaluation.queries.resize(2);
  EXPECT_EQ(FormatJson(evaluation, {}).find("ranking_loss"), std::string::npos);
  evaluation.queries[0].tuples = {.wrong = 3, .total = 4};
  evaluation.queries[1].tuples = {.wrong = 0, .total = 8};
  EXPECT_NE(FormatJson(evaluation, {}).find(R"("ranking_loss":0.25,)"),
            std::string::npos);
  EXPECT_NE(FormatTableRows(evaluation).find("   0.0625   0.2500\n"),
            std::string::npos);
}

Collection ThreeDocuments() {
  Collection collection;
  collection.document_ids = {"a", "b", "c"};
  collection.documents.resize(3);
  collection.queries = {{"q1", "", {}, {}}, {"q2", "", {}, {}}};
  return collection;
}

// The scores of a run as another tool reads them.
std::vector<float> ScoresIn(const std::string& run) {
  std::istringstream lines(run);
  std::vector<float> scores;
  std::string query, q0, document, tag;
  int rank = 0;
  float score = 0;
  while (lines >> query >> q0 >> document >> rank >> score >> tag) {
    scores.push_back(score);
  }
  return scores;
}

TEST(TrecRunTest, OneLineADocumentInOrder) {
  Evaluation evaluation;
  evaluation.ranker = "bm25";
  evaluation.queries = {{0, {}, {}, {{2, 1.5f}, {0, 0.25f}}},
                        {1, {}, {}, {{1, -2}}}};
  EXPECT_EQ(FormatTrecRun(evaluation, ThreeDocuments()),
            "q1 Q0 c 1 1.5 bm25\n"
            "q1 Q0 a 2 0.25 bm25\n"
            "q2 Q0 b 1 -2 bm25\n");
}

TEST(TrecRunTest, WrittenScoresAreReadBackTheSame) {
  Evaluation evaluation;
  evaluation.ranker = "model";
  evaluation.queries = {{0, {}, {}, {{0, 0.1f}, {1, 1 / 3.0f}}}};
  std::swap(evaluation.queries[0].run[0], evaluation.queries[0].run[1]);
  EXPECT_THAT(ScoresIn(FormatTrecRun(evaluation, ThreeDocuments())),
              ElementsAre(1 / 3.0f, 0.1f));
}

TEST(TrecRunTest, TiesAreWrittenAsFallingScores) {
  for (const float tied : {1.0f, 0.0f, -0.5f, 1e-35f, 3e7f}) {
    Evaluation evaluation;
    evaluation.ranker = "x";
    QueryEvaluation query;
    for (int i = 0; i < 500; ++i) query.run.push_back({0, tied});
    evaluation.queries = {query};
    const std::vector<float> scores =
        ScoresIn(FormatTrecRun(evaluation, ThreeDocuments()));
    ASSERT_EQ(scores.size(), 500u);
    for (std::size_t i = 1; i < scores.size(); ++i) {
      ASSERT_LT(scores[i], scores[i - 1]) << tied << " at rank " << i + 1;
      // No denormal numbers, which some readers flush to zero.
      ASSERT_GT(std::abs(scores[i]), std::numeric_limits<float>::min());
    }
    EXPECT_NEAR(scores.back(), tied, 1e-4 * std::max(1.0f, std::abs(tied)));
  }
}

}  // namespace
}  // namespace semrank
