// What the built program prints and writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "model/base/file_io.h"
#include "tests/model/eval/evaluate_main_fixture.h"
#include "tests/support/run_program.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class EvaluateResultsTest : public EvaluateMainTest {};

TEST_F(EvaluateResultsTest, JsonIsOneObjectWithTheMeans) {
  const ProgramResult result =
      Evaluate({"--ranker=bm25", "--candidates=judged", "--output=json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["ranker"], "bm25");
  EXPECT_EQ(json["queries"], 2);
  // q1 is ranked d2 d1 d3: perfect. q2 is ranked d3 d1: the one relevant
  // document second.
  const double second = 1 / 1.5849625007211562;
  EXPECT_DOUBLE_EQ(json["metrics"]["ndcg@1"], 0.5);
  EXPECT_DOUBLE_EQ(json["metrics"]["ndcg@3"], (1 + second) / 2);
  EXPECT_DOUBLE_EQ(json["metrics"]["ndcg@10"], (1 + second) / 2);
  EXPECT_DOUBLE_EQ(json["metrics"]["map"], 0.75);
  EXPECT_DOUBLE_EQ(json["metrics"]["mrr"], 0.75);
  EXPECT_DOUBLE_EQ(json["metrics"]["p@10"], 0.15);
  EXPECT_EQ(json["metrics"].size(), 6u);
}

TEST_F(EvaluateResultsTest, ResultsThatCannotBeWrittenAreAFailure) {
  const ProgramResult result = RunProgram(
      {"/bin/sh", "-c",
       SEMRANK_BINARY_DIR "/semrank-eval --ranker=bm25 --output=json --docs=" +
           dir_.File("docs.tsv") + " --queries=" + dir_.File("queries.tsv") +
           " --qrels=" + dir_.File("qrels.txt") + " > /dev/full"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("standard output cannot be written"));
}

TEST_F(EvaluateResultsTest, SeveralRankersAreSeveralResults) {
  const ProgramResult json =
      Evaluate({"--ranker=bm25,letter_tfidf,letter_tfidf+bm25", "--output=json",
                "--threads=2"});
  ASSERT_EQ(json.exit_code, 0) << json.err;
  std::istringstream lines(json.out);
  std::vector<std::string> rankers;
  for (std::string line; std::getline(lines, line);) {
    rankers.push_back(nlohmann::json::parse(line)["ranker"]);
  }
  EXPECT_EQ(rankers, (std::vector<std::string>{"bm25", "letter_tfidf",
                                               "letter_tfidf+bm25"}));
  const ProgramResult table = Evaluate({"--ranker=bm25,letter_tfidf"});
  EXPECT_THAT(table.out, StartsWith("2 queries, 3 documents, candidates: all"));
  EXPECT_THAT(table.out, HasSubstr("\nbm25  "));
  EXPECT_THAT(table.out, HasSubstr("\nletter_tfidf  "));
}

TEST_F(EvaluateResultsTest, ComparisonIsPartOfTheJson) {
  const ProgramResult result =
      Evaluate({"--ranker=letter_tfidf", "--baseline=bm25", "--output=json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["ranker"], "letter_tfidf");
  EXPECT_EQ(json["baseline"]["ranker"], "bm25");
  for (const char* metric : {"ndcg@1", "ndcg@3", "ndcg@10", "map", "mrr"}) {
    const auto& comparison = json["comparison"][metric];
    EXPECT_NEAR(comparison["delta"],
                json["metrics"][metric].get<double>() -
                    json["baseline"]["metrics"][metric].get<double>(),
                1e-12);
    EXPECT_EQ(comparison["wins"].get<int>() + comparison["ties"].get<int>() +
                  comparison["losses"].get<int>(),
              2);
    EXPECT_TRUE(comparison["p"].is_number());
  }
}

TEST_F(EvaluateResultsTest, MovedQueriesAndFirstGradesShowBothRankings) {
  const std::string run = dir_.Write("x.run",
                                     "q1 Q0 d3 1 2 x\nq1 Q0 d1 2 1 x\n"
                                     "q2 Q0 d3 1 1 x\nq2 Q0 d1 2 0 x\n");
  const std::string figure = dir_.File("grades.svg");
  const ProgramResult table = Evaluate(
      {"--ranker=run:" + run, "--baseline=bm25", "--svg_out=" + figure});
  ASSERT_EQ(table.exit_code, 0) << table.err;
  // The run's first documents have grade 0, BM25's 2 and 0.
  EXPECT_THAT(table.out,
              HasSubstr("\n       0       1       0       1       2"
                        "\n       1       0       0       0       0"));
  ASSERT_OK_AND_ASSIGN(const std::string svg, ReadFile(figure, 1 << 20));
  EXPECT_THAT(svg, HasSubstr("<title>bm25, grade 2: 1</title>"));
  EXPECT_THAT(table.out, HasSubstr("queries whose ndcg@10 moved most"));
  EXPECT_THAT(table.out, HasSubstr("q1  apple cream"));
  EXPECT_THAT(table.out, HasSubstr("d2  apple tart with cream"));
  EXPECT_THAT(table.out, HasSubstr("d3  banana bread"));
}

TEST_F(EvaluateResultsTest, MovedQueriesShowTheWordsAlone) {
  dir_.Write("queries.tsv", "q1\tapple c++ cream\nq2\tbread\n");
  const std::string run = dir_.Write("x.run", "q1 Q0 d3 1 2 x\n");
  const ProgramResult table =
      Evaluate({"--ranker=run:" + run, "--baseline=bm25"});
  ASSERT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("q1  apple c cream\n"));
}

TEST_F(EvaluateResultsTest, IdsSendNoControlsToATerminal) {
  dir_.Write("queries.tsv", "q\x1b]0;x\tapple cream\n");
  dir_.Write("qrels.txt", "q\x1b]0;x 0 d1 1\nq\x1b]0;x 0 d2 2\n");
  const std::string run = dir_.Write("x.run", "q\x1b]0;x Q0 d\x1b[2J 1 2 x\n");
  const ProgramResult table =
      Evaluate({"--ranker=run:" + run, "--baseline=bm25"});
  ASSERT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, AllOf(HasSubstr("moved most\n"), HasSubstr("[2J"),
                               Not(HasSubstr("\x1b"))));
}

TEST_F(EvaluateResultsTest, OwnRunFileHasTheSameMetrics) {
  const std::string run = dir_.File("bm25.run");
  Evaluate({"--ranker=bm25", "--run_out=" + run});
  const ProgramResult result =
      Evaluate({"--ranker=run:" + run, "--baseline=bm25", "--output=json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["metrics"], json["baseline"]["metrics"]);
  EXPECT_EQ(json["comparison"]["ndcg@10"]["p"], 1);
}

TEST_F(EvaluateResultsTest, SeveralRankersWithABaselineGiveAMatrix) {
  const std::vector<std::string> flags = {"--ranker=letter_tfidf,word_tfidf",
                                          "--baseline=bm25"};
  const ProgramResult table = Evaluate(flags);
  ASSERT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("Holm's correction for 3 pairs"));
  const ProgramResult json = Evaluate({flags[0], flags[1], "--output=json"});
  const auto first =
      nlohmann::json::parse(json.out.substr(0, json.out.find('\n')));
  EXPECT_TRUE(first["matrix"]["word_tfidf"]["map"].contains("p_holm"));
  EXPECT_TRUE(first["matrix"].contains("bm25"));
}

TEST_F(EvaluateResultsTest, TrecTiesRankTheHigherIdFirst) {
  dir_.Write("docs.tsv", "d1\tpie\nd2\tpie\nd3\tpie\n");
  dir_.Write("queries.tsv", "q1\tpie\n");
  dir_.Write("qrels.txt", "q1 0 d1 1\n");
  const auto mrr = [this](const std::string& ties) {
    const ProgramResult result =
        Evaluate({"--ranker=bm25", "--ties=" + ties, "--output=json"});
    return nlohmann::json::parse(result.out)["metrics"]["mrr"].get<double>();
  };
  EXPECT_DOUBLE_EQ(mrr("trec"), 1.0 / 3);
  EXPECT_DOUBLE_EQ(mrr("expected"), (1 + 1.0 / 2 + 1.0 / 3) / 3);
}

TEST_F(EvaluateResultsTest, SlicesAreMeasuredByThemselves) {
  const std::string slices =
      dir_.Write("slices.tsv", "q1\ttwo words\nq2\tone word\n");
  const ProgramResult json =
      Evaluate({"--ranker=bm25", "--slices=" + slices, "--output=json"});
  ASSERT_EQ(json.exit_code, 0) << json.err;
  const auto result = nlohmann::json::parse(json.out)["slices"];
  EXPECT_EQ(result["two words"]["queries"], 1);
  EXPECT_EQ(result["two words"]["metrics"]["mrr"], 1);
  EXPECT_LT(result["one word"]["metrics"]["mrr"], 1);
  const ProgramResult table = Evaluate({"--ranker=bm25", "--slices=" + slices});
  EXPECT_THAT(table.out, HasSubstr("slice one word\n1 queries\nranker "));
}

// The figures are trec_eval's.
TEST_F(EvaluateResultsTest, RankedDocumentsOutsideTheCollectionAreCounted) {
  dir_.Write("docs.tsv",
             "d1\tred running shoes\nd2\tblue suede shoes\nd3\tchess set\n"
             "d4\ttrail shoes for running\n");
  dir_.Write("queries.tsv", "q1\trunning shoes\nq2\tchess\n");
  dir_.Write("qrels.txt", "q1 0 d1 2\nq1 0 d4 1\nq1 0 d2 0\nq2 0 d3 1\n");
  const std::string run =
      dir_.Write("t.run",
                 "q1 Q0 d1 1 2 r\nq1 Q0 zzz 2 3 r\nq2 Q0 d3 1 1 r\n"
                 "q9 Q0 d3 1 1 r\n");
  const ProgramResult result =
      Evaluate({"--ranker=run:" + run, "--gain=linear", "--ties=trec",
                "--baseline=bm25", "--output=json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_DOUBLE_EQ(json["metrics"]["map"], 0.625);
  EXPECT_DOUBLE_EQ(json["metrics"]["mrr"], 0.75);
  EXPECT_EQ(json["moved_queries"][0]["top"][0]["id"], "zzz");
  EXPECT_EQ(json["moved_queries"][0]["top"][0]["title"], "");
  EXPECT_THAT(result.err, HasSubstr("t.run: ranked documents that are not in"));
  EXPECT_THAT(result.err, HasSubstr("docs.tsv: 1; they keep their ranks, and"));
}

TEST_F(EvaluateResultsTest, HighGradesNeedTheLinearGain) {
  dir_.Write("qrels.txt", "q1 0 d1 50\nq1 0 d2 1\nq2 0 d3 1\n");
  EXPECT_EQ(Evaluate({"--ranker=bm25", "--gain=linear"}).exit_code, 0);
  const ProgramResult refused = Evaluate({"--ranker=bm25"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err,
              HasSubstr("qrels.txt:1: the grade 50 is above 30, the limit of "
                        "the gain 2^grade - 1; semrank-eval --gain=linear"));
}

TEST_F(EvaluateResultsTest, PerQueryFileHasBothValues) {
  const std::string file = dir_.File("per_query.tsv");
  const ProgramResult result =
      Evaluate({"--ranker=bm25",
                "--baseline=run:" + dir_.Write("x.run", "q1 Q0 d1 1 1 x\n"),
                "--per_query=" + file});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::ifstream lines(file);
  std::string line;
  std::getline(lines, line);
  EXPECT_THAT(line, StartsWith("q1\tndcg@1\t1\t0.33"));
}

TEST_F(EvaluateResultsTest, RunFileHasTheRanking) {
  const ProgramResult result = Evaluate(
      {"--ranker=bm25", "--run_out=" + dir_.File("bm25.run"), "--run_depth=2"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::ifstream run(dir_.File("bm25.run"));
  std::vector<std::string> documents;
  std::string query, q0, document, rank, score, tag;
  while (run >> query >> q0 >> document >> rank >> score >> tag) {
    EXPECT_EQ(q0, "Q0");
    EXPECT_EQ(tag, "bm25");
    documents.push_back(query + " " + rank + " " + document);
  }
  EXPECT_EQ(documents, (std::vector<std::string>{"q1 1 d2", "q1 2 d1",
                                                 "q2 1 d3", "q2 2 d2"}));
}

}  // namespace
}  // namespace semrank
