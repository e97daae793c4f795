// The whole way with the real programs: train on click pairs, serve the model,
// rank with the client, drain the server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/integration/click_pairs.h"
#include "tests/support/http_client.h"
#include "tests/support/run_program.h"
#include "tests/support/server_process.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

// The first title shares a word with the query, but no pair connects them; the
// second has the meaning of the query.
TEST(TrainServeRankSsiTest, WordsAndMeaningsAddUp) {
  const TempDir dir;
  const std::string model_dir = dir.File("models/ssi");
  const ProgramResult trained =
      RunProgram({kBinaries + "/semrank-train",
                  "--train=" + dir.Write("clicks.tsv", ClickPairs()),
                  "--model_dir=" + model_dir, "--tower=ssi",
                  "--embedding_dim=16", "--batch_size=12", "--epochs=40",
                  "--learning_rate=0.1", "--valid_fraction=0", "--threads=1"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  ServerProcess server(kBinaries + "/semrank-server",
                       {"--model_dir=" + model_dir});
  const std::vector<std::string> rank = {
      kBinaries + "/semrank", "--address=" + server.grpc_address(), "rank",
      "--query=fix auto", "--output=json"};
  std::vector<std::string> arguments = rank;
  arguments.insert(arguments.end(), {"travel agency", "photo editor",
                                     "garage for cars", "garage for auto"});
  for (int times = 0; times < 2; ++times) {
    const ProgramResult ranked = RunProgram(arguments);
    ASSERT_EQ(ranked.exit_code, 0) << ranked.err;
    const auto json = nlohmann::json::parse(ranked.out);
    EXPECT_EQ(json["score_kind"], "ssi_dot");
    EXPECT_EQ(json["results"][0]["title"], "garage for auto");
    EXPECT_EQ(json["results"][1]["title"], "garage for cars");
    EXPECT_EQ(json["cache_hits"], times == 0 ? 0 : 4);
  }
  const ProgramResult model = RunProgram(
      {kBinaries + "/semrank", "--address=" + server.grpc_address(), "model"});
  EXPECT_THAT(model.out, HasSubstr("low_rank"));
  EXPECT_THAT(model.out, HasSubstr("ssi_dot"));
}

// The parameter is a value of --tower.
class TrainServeRankTest : public ::testing::TestWithParam<std::string> {
 protected:
  ProgramResult Train() {
    return RunProgram({kBinaries + "/semrank-train",
                       "--train=" + dir_.Write("clicks.tsv", ClickPairs()),
                       "--model_dir=" + model_dir_, "--tower=" + GetParam(),
                       "--hidden=32", "--embedding_dim=16", "--batch_size=12",
                       "--epochs=40", "--optimizer=adam",
                       "--learning_rate=0.01", "--valid_fraction=0", "--seed=1",
                       "--threads=1"});
  }
  // Number of the title that ranks first.
  int Best(const ServerProcess& server, const std::string& query) {
    const ProgramResult result = RunProgram(
        {kBinaries + "/semrank", "--address=" + server.grpc_address(), "rank",
         "--query=" + query, "--output=json", "photo editor", "car mechanic",
         "travel agency"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return nlohmann::json::parse(result.out)["results"][0]["index"];
  }

  const TempDir dir_;
  const std::string model_dir_ = dir_.File("models/shop");
};

TEST_P(TrainServeRankTest, WhatWasClickedRanksFirst) {
  const ProgramResult trained = Train();
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  ServerProcess server(kBinaries + "/semrank-server",
                       {"--model_dir=" + model_dir_});
  EXPECT_EQ(Best(server, "edit pictures"), 0);
  EXPECT_EQ(Best(server, "fix auto"), 1);
  EXPECT_EQ(Best(server, "cheap flight"), 2);
  const std::string metrics = HttpGet(server.http_address(), "/metrics").body;
  EXPECT_THAT(metrics,
              HasSubstr("semrank_texts_embedded_total{side=\"document\"} 3\n"));
  EXPECT_THAT(metrics,
              HasSubstr("semrank_cache_requests_total{result=\"hit\"} 6\n"));
  EXPECT_THAT(metrics,
              ContainsRegex("semrank_model_info\\{[^}]*name=\"shop\",[^}]*"
                            "version=\"1\"\\} 1\n"));
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
}

INSTANTIATE_TEST_SUITE_P(Towers, TrainServeRankTest,
                         ::testing::Values("dssm", "clsm"),
                         [](const auto& tower) { return tower.param; });

}  // namespace
}  // namespace semrank
