// Flags, input files and errors of the built program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/model/eval/evaluate_main_fixture.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

TEST_F(EvaluateMainTest, OrderOfTheDocumentsFileChangesNothing) {
  const std::vector<std::string> flags = {
      "--ranker=bm25,word_tfidf,letter_tfidf", "--output=json"};
  dir_.Write("docs.tsv", "d3\tBread\nd2\tbread\nd1\tapple\n");
  const std::string one = Evaluate(flags).out;
  dir_.Write("docs.tsv", "d1\tapple\nd3\tBread\nd2\tbread\n");
  EXPECT_EQ(Evaluate(flags).out, one);
  EXPECT_THAT(one, HasSubstr("tied_queries"));
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

TEST_F(EvaluateMainTest, WrongFlagsExitWithTwoAndAReason) {
  ExpectWrongUse({"--ranker=bm52"}, "--ranker=bm52: 'bm52' is not a ranker");
  ExpectWrongUse({"--ranker=bm25+"}, "--ranker=bm25+");
  ExpectWrongUse({"--ranker="}, "names no ranker");
  ExpectWrongUse({}, "--model_dir: needed by --ranker=model");
  ExpectWrongUse({"--ranker=bm25", "--hybrid=bm25"}, "--hybrid=bm25");
  ExpectWrongUse({"--ranker=bm25", "--hybrid=model"}, "--hybrid=model");
  ExpectWrongUse({"--ranker=bm25,run:x", "--hybrid=letter_tfidf"},
                 "--hybrid=letter_tfidf: cannot be added to the run run:x");
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
  for (const std::string& output : {run, dir_.File("new.txt")}) {
    ExpectWrongUse(
        {"--ranker=bm25", "--run_out=" + output, "--per_query=" + output},
        "the file of --run_out");
  }
}

TEST_F(EvaluateMainTest, FailuresExitWithOneAndAReason) {
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

TEST_F(EvaluateMainTest, HelpHasExamples) {
  const ProgramResult result = Run({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("semrank-eval --ranker=bm25"));
  EXPECT_THAT(result.out, HasSubstr("--candidates"));
  EXPECT_THAT(result.out, HasSubstr("--words"));
}

}  // namespace
}  // namespace semrank
