// The built program, as people and scripts call it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "model/base/file_io.h"
#include "model/format/model_bundle.h"
#include "tests/model/format/tiny_model.h"
#include "tests/support/run_program.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class EvaluateMainTest : public ::testing::Test {
 protected:
  EvaluateMainTest() {
    dir_.Write("docs.tsv",
               "d1\tApple pie\nd2\tApple tart with cream\nd3\tBanana bread\n");
    dir_.Write("queries.tsv", "q1\tapple cream\nq2\tbread\nq3\tunjudged\n");
    dir_.Write("qrels.txt",
               "q1 0 d1 1\nq1 0 d2 2\nq1 0 d3 0\nq2 0 d1 1\nq2 0 d3 0\n");
  }

  // semrank-eval with the collection and `flags`.
  ProgramResult Evaluate(std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"--docs=" + dir_.File("docs.tsv"),
                                 "--queries=" + dir_.File("queries.tsv"),
                                 "--qrels=" + dir_.File("qrels.txt")});
    return Run(std::move(flags));
  }
  ProgramResult Run(std::vector<std::string> flags) {
    flags.insert(flags.begin(), SEMRANK_BINARY_DIR "/semrank-eval");
    return RunProgram(std::move(flags));
  }
  void ExpectWrongUse(const std::vector<std::string>& flags,
                      std::string_view message) {
    const ProgramResult result = Evaluate(flags);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(std::string(message)));
    EXPECT_EQ(result.out, "");
  }

  TempDir dir_;
};

TEST_F(EvaluateMainTest, JsonIsOneObjectWithTheMeans) {
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

TEST_F(EvaluateMainTest, ResultsThatCannotBeWrittenAreAFailure) {
  const ProgramResult result = RunProgram(
      {"/bin/sh", "-c",
       SEMRANK_BINARY_DIR "/semrank-eval --ranker=bm25 --output=json --docs=" +
           dir_.File("docs.tsv") + " --queries=" + dir_.File("queries.tsv") +
           " --qrels=" + dir_.File("qrels.txt") + " > /dev/full"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("standard output cannot be written"));
}

TEST_F(EvaluateMainTest, SeveralRankersAreSeveralResults) {
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

TEST_F(EvaluateMainTest, ComparisonIsPartOfTheJson) {
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

TEST_F(EvaluateMainTest, MovedQueriesAndFirstGradesShowBothRankings) {
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

TEST_F(EvaluateMainTest, MovedQueriesShowTheWordsAlone) {
  dir_.Write("queries.tsv", "q1\tapple c++ cream\nq2\tbread\n");
  const std::string run = dir_.Write("x.run", "q1 Q0 d3 1 2 x\n");
  const ProgramResult table =
      Evaluate({"--ranker=run:" + run, "--baseline=bm25"});
  ASSERT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("q1  apple c cream\n"));
}

TEST_F(EvaluateMainTest, OwnRunFileHasTheSameMetrics) {
  const std::string run = dir_.File("bm25.run");
  Evaluate({"--ranker=bm25", "--run_out=" + run});
  const ProgramResult result =
      Evaluate({"--ranker=run:" + run, "--baseline=bm25", "--output=json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["metrics"], json["baseline"]["metrics"]);
  EXPECT_EQ(json["comparison"]["ndcg@10"]["p"], 1);
}

TEST_F(EvaluateMainTest, SeveralRankersWithABaselineGiveAMatrix) {
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

TEST_F(EvaluateMainTest, OrderOfTheDocumentsFileChangesNothing) {
  const std::vector<std::string> flags = {
      "--ranker=bm25,word_tfidf,letter_tfidf", "--output=json"};
  dir_.Write("docs.tsv", "d3\tBread\nd2\tbread\nd1\tapple\n");
  const std::string one = Evaluate(flags).out;
  dir_.Write("docs.tsv", "d1\tapple\nd3\tBread\nd2\tbread\n");
  EXPECT_EQ(Evaluate(flags).out, one);
  EXPECT_THAT(one, HasSubstr("tied_queries"));
}

TEST_F(EvaluateMainTest, TrecTiesRankTheHigherIdFirst) {
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

TEST_F(EvaluateMainTest, SlicesAreMeasuredByThemselves) {
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

TEST_F(EvaluateMainTest, IdsAndSlicesOfOtherBytesAreBadLines) {
  dir_.Write("docs.tsv", "d\xff\tApple\nd2\tApple\n");
  dir_.Write("qrels.txt", "q1 0 d2 1\n");
  const std::string slices = dir_.Write("slices.tsv", "q1\tsl\xff\nq1\tgood\n");
  const ProgramResult result =
      Evaluate({"--ranker=bm25", "--slices=" + slices, "--output=json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("docs.tsv:1: not valid UTF-8"));
  EXPECT_THAT(result.err, HasSubstr("slices.tsv:1: not valid UTF-8"));
  EXPECT_EQ(nlohmann::json::parse(result.out)["slices"].size(), 1u);
}

// The figures are trec_eval's.
TEST_F(EvaluateMainTest, RankedDocumentsOutsideTheCollectionAreCounted) {
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

TEST_F(EvaluateMainTest, HighGradesNeedTheLinearGain) {
  dir_.Write("qrels.txt", "q1 0 d1 50\nq1 0 d2 1\nq2 0 d3 1\n");
  EXPECT_EQ(Evaluate({"--ranker=bm25", "--gain=linear"}).exit_code, 0);
  const ProgramResult refused = Evaluate({"--ranker=bm25"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err,
              HasSubstr("qrels.txt:1: the grade 50 is above 30, the limit of "
                        "the gain 2^grade - 1; semrank-eval --gain=linear"));
}

TEST_F(EvaluateMainTest, PerQueryFileHasBothValues) {
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

TEST_F(EvaluateMainTest, TunedValuesAreReported) {
  const ProgramResult result =
      Evaluate({"--ranker=bm25", "--tune=bm25_k1,bm25_b", "--output=json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto tuned = nlohmann::json::parse(result.out)["tuned"];
  EXPECT_THAT(tuned["on_all"].get<std::string>(), StartsWith("bm25_k1="));
  EXPECT_EQ(tuned["on_half"].size(), 2u);
}

TEST_F(EvaluateMainTest, TranslationsAreLearnedFromTheLog) {
  // No word of the query is in a title; the log says what "dessert" means.
  dir_.Write("queries.tsv", "q1\tdessert\nq2\tbread\n");
  dir_.Write("log.tsv", "dessert\tcream\ndessert\tcream\t2\n");
  for (const char* ranker : {"--ranker=wtm", "--ranker=ptm"}) {
    const ProgramResult result =
        Evaluate({ranker, "--train=" + dir_.File("log.tsv"), "--output=json",
                  "--tune=translation_background,translation_self"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto json = nlohmann::json::parse(result.out);
    EXPECT_EQ(json["tuned"]["on_half"].size(), 2u);
    EXPECT_GT(json["metrics"]["ndcg@10"], 0.5);
  }
}

TEST_F(EvaluateMainTest, NameMatchPutsTheNamedDocumentFirst) {
  dir_.Write("docs.tsv", "vim\teditor\nx\tvim vim vim\n");
  dir_.Write("queries.tsv", "q1\tvim\n");
  dir_.Write("qrels.txt", "q1 0 vim 1\n");
  const ProgramResult result =
      Evaluate({"--ranker=bm25,bm25+name_match", "--output=json"});
  std::istringstream lines(result.out);
  std::string plain, lifted;
  std::getline(lines, plain);
  std::getline(lines, lifted);
  EXPECT_LT(nlohmann::json::parse(plain)["metrics"]["mrr"], 1);
  EXPECT_EQ(nlohmann::json::parse(lifted)["metrics"]["mrr"], 1);
}

TEST_F(EvaluateMainTest, HybridIsNamedAfterBoth) {
  const ProgramResult result =
      Evaluate({"--ranker=letter_tfidf", "--hybrid=bm25", "--output=json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(nlohmann::json::parse(result.out)["ranker"], "letter_tfidf+bm25");
}

TEST_F(EvaluateMainTest, EvaluatesAPublishedModel) {
  TinyModel model({.hash_buckets = 64});
  ASSERT_THAT(PublishModel(dir_.File("model"), model.bundle()), IsOk());
  const ProgramResult result =
      Evaluate({"--model_dir=" + dir_.File("model"), "--model_version=1",
                "--ranker=model,tower,model+bm25", "--output=json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::istringstream lines(result.out);
  for (const char* name : {"model", "tower", "model+bm25"}) {
    std::string line;
    std::getline(lines, line);
    const auto json = nlohmann::json::parse(line);
    EXPECT_EQ(json["ranker"], name);
    EXPECT_GT(json["metrics"]["mrr"], 0);
  }
}

TEST_F(EvaluateMainTest, PartsOfAModelAreMeasuredByThemselves) {
  TinyModel model({.hash_buckets = 64, .lexical_weight = 0.5});
  ASSERT_THAT(PublishModel(dir_.File("model"), model.bundle()), IsOk());
  const auto run = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> all = {"--model_dir=" + dir_.File("model"),
                                    "--run_out=" + dir_.File("run")};
    all.insert(all.end(), flags.begin(), flags.end());
    const ProgramResult result = Evaluate(all);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    // Without the last column, the ranker's name.
    std::string rankings;
    for (const absl::string_view line :
         absl::StrSplit(ReadFile(dir_.File("run"), 1 << 20).value(), '\n')) {
      absl::StrAppend(&rankings, line.substr(0, line.rfind(' ')), "\n");
    }
    return rankings;
  };
  const std::string both = run({});
  EXPECT_EQ(run({"--parts=both"}), both);
  EXPECT_EQ(run({"--parts=semantic"}), run({"--ranker=tower"}));
  EXPECT_NE(run({"--parts=semantic"}), both);
  EXPECT_NE(run({"--parts=lexical"}), both);
  EXPECT_NE(run({"--parts=lexical"}), run({"--parts=semantic"}));
}

TEST_F(EvaluateMainTest, AModelWithoutALexicalPartCannotBeMeasuredByIt) {
  TinyModel model;
  ASSERT_THAT(PublishModel(dir_.File("model"), model.bundle()), IsOk());
  const ProgramResult result =
      Evaluate({"--model_dir=" + dir_.File("model"), "--parts=lexical"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("has no lexical part"));
}

TEST_F(EvaluateMainTest, DamagedModelAndMissingVersionFail) {
  TinyModel model;
  ASSERT_THAT(PublishModel(dir_.File("model"), model.bundle()), IsOk());
  const ProgramResult missing =
      Evaluate({"--model_dir=" + dir_.File("model"), "--model_version=7"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("7"));

  dir_.Write("model/1/weights.safetensors", "no tensors");
  const ProgramResult damaged = Evaluate({"--model_dir=" + dir_.File("model")});
  EXPECT_EQ(damaged.exit_code, 1);
  EXPECT_THAT(damaged.err, HasSubstr("weights.safetensors"));
}

TEST_F(EvaluateMainTest, RunFileHasTheRanking) {
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

TEST_F(EvaluateMainTest, ReadsGzip) {
  const std::string path = dir_.File("docs.tsv");
  const std::string text = "d1\tapple\nd2\tcream\nd3\tbread\n";
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  const ProgramResult result = Evaluate({"--ranker=bm25"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST_F(EvaluateMainTest, RemarksGoToStandardError) {
  dir_.Write("qrels.txt", "q1 0 d1 1\nq1 0 gone 1\nbad line\n");
  const ProgramResult result =
      Evaluate({"--ranker=bm25", "--candidates=judged", "--output=json"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("bad lines skipped: 1"));
  EXPECT_THAT(result.err, HasSubstr("docs.tsv: 1;"));
  EXPECT_THAT(result.err, HasSubstr("grade 1 or more: 2"));
  EXPECT_THAT(result.err, HasSubstr("--candidates=all"));
  EXPECT_EQ(nlohmann::json::parse(result.out)["queries"], 1);
}

TEST_F(EvaluateMainTest, TextsThatAServerWouldRefuseAreMeasuredAndCounted) {
  const std::string words(5'000, 'a');
  dir_.Write("docs.tsv", absl::StrCat("d1\tpie ", words, "\nd2\tbread\n"));
  dir_.Write("queries.tsv", absl::StrCat("q1\tpie\nq2\tbread ", words, "\n"));
  dir_.Write("qrels.txt", "q1 0 d1 1\nq2 0 d2 1\n");
  const ProgramResult result = Evaluate({"--ranker=bm25", "--output=json"});
  EXPECT_THAT(result.err, HasSubstr("over 4096 bytes: 2;"));
  EXPECT_EQ(nlohmann::json::parse(result.out)["metrics"]["mrr"], 1.0);
}

TEST_F(EvaluateMainTest, WrongFlagsExitTwoAndSayWhy) {
  ExpectWrongUse({"--ranker=bm52"}, "--ranker=bm52: 'bm52' is no ranker");
  ExpectWrongUse({"--ranker=bm25+"}, "--ranker=bm25+");
  ExpectWrongUse({"--ranker="}, "names no ranker");
  ExpectWrongUse({}, "--model_dir: needed by --ranker=model");
  ExpectWrongUse({"--ranker=bm25", "--hybrid=bm25"}, "--hybrid=bm25");
  ExpectWrongUse({"--ranker=bm25", "--hybrid=model"}, "--hybrid=model");
  ExpectWrongUse({"--ranker=bm25", "--candidates=some"}, "--candidates=some");
  ExpectWrongUse({"--ranker=bm25", "--gain=3"}, "--gain=3");
  ExpectWrongUse({"--ranker=bm25", "--output=xml"}, "--output=xml");
  ExpectWrongUse({"--ranker=bm25", "--bm25_b=1.5"}, "--bm25_b=1.5");
  ExpectWrongUse({"--ranker=bm25", "--bm25_k1=nan"}, "--bm25_k1=nan");
  ExpectWrongUse({"--ranker=ulm", "--dirichlet_mu=0"}, "--dirichlet_mu=0");
  ExpectWrongUse({"--ranker=ulm", "--dirichlet_mu=2e6"}, "--dirichlet_mu=2e6");
  ExpectWrongUse({"--ranker=qe", "--qe_documents=0"}, "--qe_documents=0");
  ExpectWrongUse({"--ranker=qe", "--qe_weight=-1"}, "--qe_weight=-1");
  ExpectWrongUse({"--ranker=wtm", "--translation_background=0"},
                 "--translation_background=0");
  ExpectWrongUse({"--ranker=wtm", "--translation_self=1.1"},
                 "--translation_self=1.1");
  ExpectWrongUse({"--ranker=bm25", "--hybrid_weight=-1"}, "--hybrid_weight=-1");
  ExpectWrongUse({"--ranker=letter_tfidf", "--tfidf_ngram=0"}, "--tfidf_ngram");
  ExpectWrongUse({"--ranker=bm25", "--threads=-1"}, "--threads=-1");
  ExpectWrongUse({"--ranker=bm25", "--max_bad_lines=-1"}, "--max_bad_lines=-1");
  ExpectWrongUse({"--ranker=bm25", "--run_out=x", "--run_depth=0"},
                 "--run_depth=0");
  ExpectWrongUse({"--ranker=bm25,letter_tfidf", "--run_out=x"}, "--run_out=x");
  ExpectWrongUse({"--ranker=bm25,letter_tfidf", "--per_query=x"},
                 "--per_query=x");
  ExpectWrongUse({"--ranker=bm25", "--baseline=bm52"}, "--baseline=bm52");
  ExpectWrongUse({"--ranker=bm25", "--baseline=model"},
                 "needed by --baseline=model");
  ExpectWrongUse({"--ranker=bm25", "--baseline=model:"}, "--baseline=model:");
  ExpectWrongUse({"--ranker=bm25+wtm"}, "--train: needed by");
  ExpectWrongUse({"--ranker=mrf", "--mrf_ordered=2"}, "--mrf_ordered=2");
  ExpectWrongUse({"--ranker=bm25", "--ties=some"}, "--ties=some");
  ExpectWrongUse({"--ranker=bm25", "--tune=k1"}, "--tune=k1");
  ExpectWrongUse({"--ranker=bm25", "--tune=hybrid_weight"},
                 "no --ranker depends on hybrid_weight");
  ExpectWrongUse({"--ranker=bm25", "--model_version=-3"}, "--model_version=-3");
  ExpectWrongUse({"evaluate"}, "no command 'evaluate'");
  EXPECT_EQ(Run({"--ranker=bm25"}).exit_code, 2);
}

TEST_F(EvaluateMainTest, NoOutputIsAnInput) {
  const std::string docs = dir_.File("docs.tsv");
  for (const std::string flag : {"run_out", "per_query"}) {
    ExpectWrongUse(
        {"--ranker=bm25", "--" + flag + "=" + docs},
        "--" + flag + " would overwrite " + docs + ", the file of --docs");
  }
  const std::string run = dir_.Write("run.txt", "q1 Q0 d1 1 1 x\n");
  ExpectWrongUse({"--ranker=run:" + run, "--run_out=" + run},
                 "the file of --ranker");
}

TEST_F(EvaluateMainTest, FailuresExitOneAndNameTheThing) {
  const ProgramResult no_file =
      Evaluate({"--ranker=bm25", "--docs=" + dir_.File("none.tsv")});
  EXPECT_EQ(no_file.exit_code, 1);
  EXPECT_THAT(no_file.err, HasSubstr("none.tsv"));

  const ProgramResult no_model =
      Evaluate({"--model_dir=" + dir_.File("no_model")});
  EXPECT_EQ(no_model.exit_code, 1);
  EXPECT_THAT(no_model.err, HasSubstr("no_model"));

  const ProgramResult no_folder =
      Evaluate({"--ranker=bm25", "--run_out=" + dir_.File("none/x.run")});
  EXPECT_EQ(no_folder.exit_code, 1);
  EXPECT_THAT(no_folder.err, HasSubstr("none"));

  dir_.Write("qrels.txt", "q1 0 d1 0\n");
  const ProgramResult no_query = Evaluate({"--ranker=bm25"});
  EXPECT_EQ(no_query.exit_code, 1);
  EXPECT_THAT(no_query.err, HasSubstr("no query is left"));
}

TEST_F(EvaluateMainTest, ARunThatRanksNothingFails) {
  for (const auto& [lines, reason] :
       {std::pair("", "x.run: no line can be used"),
        std::pair("q9 Q0 d1 1 1 x\n", "x.run: no line can be used"),
        std::pair("q1 Q0 d1 1 1\n",
                  "x.run: 1 of its 1 lines cannot be used")}) {
    const ProgramResult result =
        Evaluate({"--ranker=run:" + dir_.Write("x.run", lines)});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr(reason));
  }
}

TEST_F(EvaluateMainTest, VocabularyCountsCollisions) {
  const std::string words = dir_.Write("words", "good\nabacab\nacabab\n");
  const ProgramResult result =
      Run({"vocabulary", "--words=" + words, "--ngram=2", "--output=json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["ngram"], 2);
  EXPECT_EQ(json["words"], 3);
  EXPECT_EQ(json["collisions"], 1);
  EXPECT_EQ(Run({"vocabulary"}).exit_code, 2);
  EXPECT_EQ(Run({"vocabulary", "--words=" + words, "--ngram=9"}).exit_code, 2);
  EXPECT_EQ(Run({"vocabulary", "--words=" + dir_.File("none")}).exit_code, 1);
}

TEST_F(EvaluateMainTest, HelpTeachesByExample) {
  const ProgramResult result = Run({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("semrank-eval --ranker=bm25"));
  EXPECT_THAT(result.out, HasSubstr("--candidates"));
  EXPECT_THAT(result.out, HasSubstr("--words"));
}

}  // namespace
}  // namespace semrank
