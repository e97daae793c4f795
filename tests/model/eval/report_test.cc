#include "model/eval/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace semrank {
namespace {

Evaluation MakeEvaluation() {
  Evaluation evaluation;
  evaluation.ranker = "bm25";
  evaluation.queries.resize(2);
  evaluation.summary.mean = {0.125, 0.25, 0.5, 0.75, 1, 0.0625};
  evaluation.summary.standard_error = {0.5, 0, 0, 0, 0, 0.25};
  return evaluation;
}

TEST(ReportTest, JsonIsOneObjectOnALine) {
  EXPECT_EQ(FormatJson(MakeEvaluation(), {.candidates = Candidates::kJudged,
                                          .gain = Gain::kLinear}),
            R"({"ranker":"bm25","queries":2,"metrics":{"ndcg@1":0.125,)"
            R"("ndcg@3":0.25,"ndcg@10":0.5,"map":0.75,"mrr":1.0,)"
            R"("p@10":0.0625},"standard_errors":{"ndcg@1":0.5,"ndcg@3":0.0,)"
            R"("ndcg@10":0.0,"map":0.0,"mrr":0.0,"p@10":0.25},)"
            R"("candidates":"judged","gain":"linear"})"
            "\n");
}

TEST(ReportTest, TableSaysWhatWasEvaluated) {
  Collection collection;
  collection.documents.resize(3);
  collection.queries = {{"q", "", {{0, 1}}, {}}, {"none", "", {}, {}}};
  EXPECT_EQ(FormatTableHead(collection, {}),
            "1 queries, 3 documents, candidates: all documents, gain: "
            "2^grade - 1\n\n"
            "ranker               ndcg@1   ndcg@3  ndcg@10      map      mrr"
            "     p@10    rloss\n");
}

TEST(ReportTest, TableRowsHaveMeansAndStandardErrors) {
  EXPECT_EQ(FormatTableRows(MakeEvaluation()),
            "bm25                 0.1250   0.2500   0.5000   0.7500   1.0000"
            "   0.0625\n"
            "  +-                 0.5000   0.0000   0.0000   0.0000   0.0000"
            "   0.2500\n");
}

TEST(ReportTest, RankingLossIsOverTuplesAndLeftOutWithoutThem) {
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

}  // namespace
}  // namespace semrank
