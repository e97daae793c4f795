// Requests larger than the server takes, from the command line to the server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/support/run_program.h"
#include "tests/support/server_process.h"
#include "tests/support/temp_dir.h"
#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

// 900 lines of 100 bytes are fewer bytes than clients send in one message by
// default, and twice as many as this server accepts in one.
TEST(LargeRequestsTest, WhatHasTooManyBytesForTheServerIsCutByEachCommand) {
  const TempDir dir;
  PublishTinyModel(dir.File("shop"));
  const ServerProcess server(
      SEMRANK_BINARY_DIR "/semrank-server",
      {"--model_dir=" + dir.File("shop"), "--max_texts_per_request=10"});
  std::string titles, documents;
  for (int i = 0; i < 900; ++i) {
    const std::string number = std::to_string(i);
    const std::string title = number + std::string(99 - number.size(), 'x');
    titles += title + "\n";
    documents += number + "\t" + title + "\n";
  }
  const std::string file = dir.Write("docs.tsv", documents);
  const auto num_lines_of = [&](std::vector<std::string> command) {
    command.insert(command.begin(), {SEMRANK_BINARY_DIR "/semrank",
                                     "--address=" + server.grpc_address()});
    const ProgramResult run = RunProgram(command, {.input = titles});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return std::ranges::count(run.out, '\n');
  };
  EXPECT_EQ(num_lines_of({"rank", "--query=x", "--titles=-"}), 900);
  EXPECT_EQ(num_lines_of({"embed", "--side=document", "--texts=-"}), 900);
  num_lines_of({"embed", "--side=document", "--texts=" + file,
                "--output=" + dir.File("vectors.fvecs")});
  EXPECT_EQ(std::filesystem::file_size(dir.File("vectors.fvecs")),
            900 * (1 + 16) * sizeof(float));
  EXPECT_EQ(num_lines_of({"put", "--documents=" + file}), 1);
  EXPECT_EQ(num_lines_of({"search", "--query=x", "--top_k=900"}), 900);
}

}  // namespace
}  // namespace semrank
