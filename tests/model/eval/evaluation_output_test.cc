#include "model/eval/evaluation_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
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
  evaluation.queries[0].has_ties = true;
  evaluation.summary.mean = {0.125, 0.25, 0.5, 0.75, 1, 0.0625};
  evaluation.summary.standard_error = {0.5, 0, 0, 0, 0, 0.25};
  return evaluation;
}

TEST(EvaluationOutputTest, JsonHasMeansAndErrors) {
  nlohmann::ordered_json json = EvaluationToJson(MakeEvaluation());
  AddOptions({.candidates = Candidates::kJudged, .gain = Gain::kLinear}, json);
  EXPECT_EQ(json.dump(),
            R"({"ranker":"bm25","queries":2,"metrics":{"ndcg@1":0.125,)"
            R"("ndcg@3":0.25,"ndcg@10":0.5,"map":0.75,"mrr":1.0,)"
            R"("p@10":0.0625},"standard_errors":{"ndcg@1":0.5,"ndcg@3":0.0,)"
            R"("ndcg@10":0.0,"map":0.0,"mrr":0.0,"p@10":0.25},)"
            R"("tied_queries":0.5,)"
            R"("candidates":"judged","gain":"linear","ties":"expected"})");
}

TEST(EvaluationOutputTest, TableSaysWhatWasEvaluated) {
  Collection collection;
  collection.documents.resize(3);
  collection.queries = {{"q", "", {{0, 1}}, {}}, {"none", "", {}, {}}};
  EXPECT_EQ(FormatCollection(collection, {}),
            "1 queries, 3 documents, candidates: all documents, gain: "
            "2^grade - 1, ties: expected value\n");
}

TEST(EvaluationOutputTest, TableRowsHaveMeansAndStandardErrors) {
  const ResultTable table(std::vector<std::string>{"bm25"});
  EXPECT_EQ(table.Head(),
            "ranker               ndcg@1   ndcg@3  ndcg@10      map      mrr"
            "     p@10    rloss     tied\n");
  EXPECT_EQ(table.Rows(MakeEvaluation()),
            "bm25                 0.1250   0.2500   0.5000   0.7500   1.0000"
            "   0.0625            50.0 %\n"
            "  +-                 0.5000   0.0000   0.0000   0.0000   0.0000"
            "   0.2500\n");
}

TEST(EvaluationOutputTest, LongNamesWidenTheTable) {
  const std::string name = "model:models/shop+bm25+name_match";
  const ResultTable table(std::vector<std::string>{"bm25", name});
  EXPECT_EQ(table.Head().find("ndcg@1"), name.size() + 1 + 3);
}

TEST(EvaluationOutputTest, RankingLossIsOmittedWithoutTuples) {
  Evaluation evaluation = MakeEvaluation();
  EXPECT_FALSE(EvaluationToJson(evaluation).contains("ranking_loss"));
  evaluation.queries[0].tuples = {.wrong = 3, .total = 4};
  evaluation.queries[1].tuples = {.wrong = 0, .total = 8};
  const nlohmann::ordered_json json = EvaluationToJson(evaluation);
  EXPECT_EQ(json["ranking_loss"], 0.25);
  EXPECT_EQ(json["mean_ranking_loss"], 0.375);
  EXPECT_EQ(json["standard_errors"]["mean_ranking_loss"], 0.375);
}

TEST(EvaluationOutputTest, PerQueryHasALineAQueryAndMetric) {
  Evaluation evaluation = MakeEvaluation();
  evaluation.queries.resize(1);
  evaluation.queries[0].metrics = {0.5, 0.5, 0.5, 0.25, 1, 0.125};
  evaluation.queries[0].tuples = {.wrong = 1, .total = 2};
  Evaluation baseline = evaluation;
  baseline.queries[0].metrics[kMap] = 0.75;
  Collection collection;
  collection.queries = {{"q7", "", {{0, 1}}, {}}};
  EXPECT_EQ(FormatPerQuery(evaluation, nullptr, collection),
            "q7\tndcg@1\t0.5\nq7\tndcg@3\t0.5\nq7\tndcg@10\t0.5\n"
            "q7\tmap\t0.25\nq7\tmrr\t1\nq7\tp@10\t0.125\n"
            "q7\tranking_loss\t0.5\n");
  EXPECT_THAT(FormatPerQuery(evaluation, &baseline, collection),
              ::testing::HasSubstr("q7\tmap\t0.25\t0.75\n"));
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
  evaluation.queries = {{0, {}, {}, false, {{2, 1.5f}, {0, 0.25f}}},
                        {1, {}, {}, false, {{1, -2}}}};
  EXPECT_EQ(FormatTrecRun(evaluation, ThreeDocuments()),
            "q1 Q0 c 1 1.5 bm25\n"
            "q1 Q0 a 2 0.25 bm25\n"
            "q2 Q0 b 1 -2 bm25\n");
}

TEST(TrecRunTest, WrittenScoresAreReadBackTheSame) {
  Evaluation evaluation;
  evaluation.ranker = "model";
  evaluation.queries = {{0, {}, {}, false, {{0, 0.1f}, {1, 1 / 3.0f}}}};
  std::swap(evaluation.queries[0].run[0], evaluation.queries[0].run[1]);
  EXPECT_THAT(ScoresIn(FormatTrecRun(evaluation, ThreeDocuments())),
              ElementsAre(1 / 3.0f, 0.1f));
}

TEST(TrecRunTest, TiesAreWrittenAsEqualScores) {
  Evaluation evaluation;
  evaluation.ranker = "x";
  evaluation.queries = {{0, {}, {}, false, {{2, 0.1f}, {1, 0.1f}}}};
  EXPECT_THAT(ScoresIn(FormatTrecRun(evaluation, ThreeDocuments())),
              ElementsAre(0.1f, 0.1f));
}

}  // namespace
}  // namespace semrank
