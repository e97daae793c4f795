// semrank-train --grid: what is searched, printed, kept and published.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/base/file_io.h"
#include "tests/support/run_program.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kGrid[] = "--grid=learning_rate=0.0001,0.02;gamma=5,15";

class GridTest : public ::testing::Test {
 protected:
  // Queries share no letters with their titles: settings that learn are better.
  GridTest() {
    std::string pairs, queries, docs, qrels;
    for (int i = 0; i < 40; ++i) {
      const std::string query(5, static_cast<char>('a' + i % 13));
      const std::string title(6, static_cast<char>('n' + i % 13));
      absl::StrAppendFormat(&pairs, "%s%d\t%s%d\n", query, i / 13, title,
                            i / 13);
      absl::StrAppendFormat(&queries, "q%d\t%s%d\n", i, query, i / 13);
      absl::StrAppendFormat(&docs, "d%d\t%s%d\n", i, title, i / 13);
      absl::StrAppendFormat(&qrels, "q%d 0 d%d 1\n", i, i);
    }
    train_ = "--train=" + dir_.Write("pairs.tsv", pairs);
    judged_ = {"--valid_queries=" + dir_.Write("queries.tsv", queries),
               "--valid_docs=" + dir_.Write("docs.tsv", docs),
               "--valid_qrels=" + dir_.Write("qrels.txt", qrels)};
  }

  ProgramResult Train(const std::string& model_dir,
                      const std::vector<std::string>& more,
                      bool judged = true) const {
    std::vector<std::string> command = {
        std::string(SEMRANK_BINARY_DIR) + "/semrank-train",
        train_,
        "--model_dir=" + dir_.File(model_dir),
        "--batch_size=16",
        "--hidden=12",
        "--embedding_dim=8",
        "--epochs=3"};
    if (judged) command.insert(command.end(), judged_.begin(), judged_.end());
    command.insert(command.end(), more.begin(), more.end());
    return RunProgram(command);
  }

  std::string Content(const std::string& name) const {
    const auto content = ReadFile(dir_.File(name), 1 << 24);
    EXPECT_THAT(content, IsOk());
    return content.value_or("");
  }

  const TempDir dir_;
  std::string train_;
  std::vector<std::string> judged_;
};

TEST_F(GridTest, PublishesTheBestSettingAsIfItHadBeenTrainedAlone) {
  const ProgramResult result = Train("grid", {kGrid, "--output=json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::size_t end = result.out.find('\n');
  const auto found = nlohmann::json::parse(result.out.substr(0, end));
  const auto published = nlohmann::json::parse(result.out.substr(end));
  ASSERT_EQ(found["settings"].size(), 4u);
  EXPECT_THAT(found["winner"]["setting"].get<std::string>(),
              HasSubstr("learning_rate=0.02"));
  EXPECT_EQ(published["version"], 1);
  // What the search measured is what the published model is worth.
  double best = 0;
  for (const auto& setting : found["settings"]) {
    best = std::max(best, setting["both"].get<double>());
  }
  EXPECT_NEAR(published["best_epoch"]["ndcg@10"], best, 1e-12);

  const std::string winner = found["winner"]["setting"];
  const std::size_t blank = winner.find(' ');
  ASSERT_EQ(Train("alone", {"--" + winner.substr(0, blank),
                            "--" + winner.substr(blank + 1)})
                .exit_code,
            0);
  EXPECT_EQ(Content("grid/1/weights.safetensors"),
            Content("alone/1/weights.safetensors"));
}

TEST_F(GridTest, TheTableIsForPeople) {
  const ProgramResult result = Train("grid", {"--grid=gamma=5,15"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("setting "), HasSubstr("gamma=15"),
                    HasSubstr("winner"), HasSubstr("cross-validated ndcg@10"),
                    HasSubstr("published " + dir_.File("grid/1"))));
}

TEST_F(GridTest, GoesOnWithWhatIsNotFinished) {
  ASSERT_EQ(Train("grid", {kGrid, "--output=json"}).exit_code, 0);
  // As after an end in the middle of writing the third setting.
  std::string lines = Content("grid/grid.jsonl");
  std::size_t third = 0;
  for (int i = 0; i < 2; ++i) third = lines.find('\n', third) + 1;
  dir_.Write("grid/grid.jsonl", lines.substr(0, third + 20));

  const ProgramResult again = Train("grid", {kGrid, "--output=json"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err,
              AllOf(HasSubstr("setting 2/4: learning_rate=0.0001 gamma=15\n"
                              "done before\nsetting 3/4: learning_rate=0.02 "
                              "gamma=5\nepoch 1"),
                    HasSubstr("grid.jsonl:3: left out")));
  EXPECT_EQ(Content("grid/grid.jsonl"), lines);
  EXPECT_EQ(Content("grid/1/weights.safetensors"),
            Content("grid/2/weights.safetensors"));
}

TEST_F(GridTest, OtherFilesAreAnotherSearch) {
  ASSERT_EQ(Train("grid", {"--grid=gamma=5,15"}).exit_code, 0);
  dir_.Write("qrels.txt", "q0 0 d0 1\nq1 0 d2 1\nq2 0 d2 1\n");
  const ProgramResult again = Train("grid", {"--grid=gamma=5,15"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, Not(HasSubstr("done before")));
}

TEST_F(GridTest, LossesChooseWithoutJudgedQueries) {
  const ProgramResult result = Train("grid",
                                     {"--grid=learning_rate=0.0001,0.02",
                                      "--valid_fraction=0.3", "--output=json"},
                                     /*judged=*/false);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto found =
      nlohmann::json::parse(result.out.substr(0, result.out.find('\n')));
  EXPECT_EQ(found["measure"], "loss");
  EXPECT_GT(found["cross_validated"], 0);
}

// Steps near the largest float there is.
TEST_F(GridTest, ASettingThatDivergesIsNotChosen) {
  const ProgramResult result = Train(
      "grid",
      {"--grid=learning_rate=3e38,0.01", "--optimizer=sgd", "--tower=linear"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("learning_rate=3e38  diverged"));
  const ProgramResult none =
      Train("none", {"--grid=learning_rate=3e38,3.1e38", "--optimizer=sgd",
                     "--tower=linear"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("no setting of --grid keeps the loss"));
}

struct RefusedCase {
  std::string name;
  std::vector<std::string> flags;
  bool judged;
  std::string reason;
};

class RefusedGridTest : public GridTest,
                        public ::testing::WithParamInterface<RefusedCase> {};

TEST_P(RefusedGridTest, IsWrongUseAndSaysWhy) {
  const ProgramResult result =
      Train("grid", GetParam().flags, GetParam().judged);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr(GetParam().reason));
  EXPECT_EQ(result.out, "");
  EXPECT_FALSE(std::filesystem::exists(dir_.File("grid")));
}

INSTANTIATE_TEST_SUITE_P(
    Grids, RefusedGridTest,
    ::testing::Values(
        RefusedCase{
            "UnknownFlag", {"--grid=gama=1,2"}, true, "did you mean --gamma?"},
        RefusedCase{"WrongValue", {"--grid=gamma=1,high"}, true, "gamma=high"},
        RefusedCase{"OutOfRange", {"--grid=gamma=1,-1"}, true, "--gamma=-1"},
        RefusedCase{
            "OtherData", {"--grid=ngram_length=2,3"}, true, "needs other data"},
        RefusedCase{"NoValidation",
                    {"--grid=gamma=1,2", "--valid_fraction=0"},
                    false,
                    "nothing to validate"},
        RefusedCase{"LossesOfOtherKinds",
                    {"--grid=gamma=1,2"},
                    false,
                    "could not be compared"},
        RefusedCase{"StandardInput",
                    {"--grid=gamma=1,2", "--train=-"},
                    true,
                    "standard input"},
        RefusedCase{"ItsOwnFlag",
                    {"--grid=grid=1,2"},
                    true,
                    "cannot hold another --grid"},
        RefusedCase{"Output", {"--output=xml"}, true, "table, json"}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace semrank
