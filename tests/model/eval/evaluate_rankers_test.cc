// Rankers and models that the built program measures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "model/base/file_io.h"
#include "model/format/model_bundle.h"
#include "tests/model/eval/evaluate_main_fixture.h"
#include "tests/model/format/tiny_model.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class EvaluateRankersTest : public EvaluateMainTest {};

TEST_F(EvaluateRankersTest, TunedValuesAreReported) {
  const ProgramResult result =
      Evaluate({"--ranker=bm25", "--tune=bm25_k1,bm25_b", "--output=json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto tuned = nlohmann::json::parse(result.out)["tuned"];
  EXPECT_THAT(tuned["on_all"].get<std::string>(), StartsWith("bm25_k1="));
  EXPECT_EQ(tuned["on_half"].size(), 2u);
}

TEST_F(EvaluateRankersTest, TranslationsAreLearnedFromTheLog) {
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

TEST_F(EvaluateRankersTest, NameMatchPutsTheNamedDocumentFirst) {
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

TEST_F(EvaluateRankersTest, HybridIsNamedAfterBoth) {
  const ProgramResult result =
      Evaluate({"--ranker=letter_tfidf", "--hybrid=bm25", "--output=json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(nlohmann::json::parse(result.out)["ranker"], "letter_tfidf+bm25");
}

TEST_F(EvaluateRankersTest, EvaluatesAPublishedModel) {
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

TEST_F(EvaluateRankersTest, PartsOfAModelAreMeasuredByThemselves) {
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

TEST_F(EvaluateRankersTest, AModelWithoutALexicalPartCannotBeMeasuredByIt) {
  TinyModel model;
  ASSERT_THAT(PublishModel(dir_.File("model"), model.bundle()), IsOk());
  const ProgramResult result =
      Evaluate({"--model_dir=" + dir_.File("model"), "--parts=lexical"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("has no lexical part"));
}

TEST_F(EvaluateRankersTest, DamagedModelAndMissingVersionFail) {
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

}  // namespace
}  // namespace semrank
