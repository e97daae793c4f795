// The real semrank-server embeds a file of documents before it is ready.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <tuple>

#include "tests/integration/server_program.h"
#include "tests/support/http_client.h"
#include "tests/support/run_program.h"
#include "tests/support/server_process.h"
#include "tests/support/temp_dir.h"
#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

TEST(WarmUpTest, TheFirstRankOfAWarmedServerFindsAllTitlesInMemory) {
  const TempDir dir;
  const std::string shop = dir.File("shop");
  const std::string news = dir.File("news");
  PublishTinyModel(shop);
  PublishTinyModel(news, {.seed = 2});
  const std::string docs = dir.Write(
      "docs.tsv", "1\tred hat\nno tab\n2\tblue shoes\n3\tbad \xff text\n");
  const ServerProcess server(
      kServer,
      {"--model_dir=shop=" + shop + ",news=" + news, "--warm_catalog=" + docs});
  for (const char* model : {"shop", "news"}) {
    const HttpAnswer answer = CallHttp(
        server.http_address(), "POST", "/v1/rank",
        {.body = R"({"query": "shoes", "titles": ["red hat", "blue shoes"],
                     "model": {"name": ")" +
                 std::string(model) + "\"}}"});
    EXPECT_EQ(answer.status, 200) << answer.body;
  }
  const std::string metrics = HttpGet(server.http_address(), "/metrics").body;
  EXPECT_THAT(metrics,
              HasSubstr("semrank_texts_embedded_total{side=\"document\"} 4\n"));
  EXPECT_THAT(metrics,
              HasSubstr("semrank_cache_requests_total{result=\"hit\"} 4\n"));
}

TEST(WarmUpTest, AFileThatIsMissingEndsTheStartAndIsNamed) {
  const TempDir dir;
  PublishTinyModel(dir.File("shop"));
  const ProgramResult result = RunProgram(
      {kServer, "--model_dir=" + dir.File("shop"), "--listen_address=[::1]:0",
       "--http_address=127.0.0.1:0", "--warm_catalog=" + dir.File("none.tsv")});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr(dir.File("none.tsv")));
}

TEST(WarmUpTest, AFileWithoutTitlesEndsTheStart) {
  const TempDir dir;
  PublishTinyModel(dir.File("shop"));
  for (const auto& [name, content, reason] :
       {std::tuple("empty.tsv", "", "contains no titles"),
        std::tuple("titles.txt", "red hat\n", "has no id"),
        std::tuple("bad.tsv", "1\t\xff\n2\t\xff\n3\ta\n",
                   "2 of its 3 lines cannot be used")}) {
    const ProgramResult result =
        RunProgram({kServer, "--model_dir=" + dir.File("shop"),
                    "--listen_address=[::1]:0", "--http_address=127.0.0.1:0",
                    "--warm_catalog=" + dir.Write(name, content)});
    EXPECT_NE(result.exit_code, 0);
    EXPECT_THAT(result.err, HasSubstr(reason));
  }
}

TEST(WarmUpTest, APipeThatNobodyWritesToDoesNotHoldUpTheStop) {
  const TempDir dir;
  PublishTinyModel(dir.File("shop"));
  ASSERT_EQ(mkfifo(dir.File("pipe").c_str(), 0600), 0);
  const auto server = ServerProcess::StartListening(
      kServer, {"--model_dir=" + dir.File("shop"),
                "--warm_catalog=" + dir.File("pipe")});
  server->Signal(SIGTERM);
  EXPECT_EQ(server->Wait(), 0);
}

}  // namespace
}  // namespace semrank
