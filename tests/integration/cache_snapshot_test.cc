// The real semrank-server that keeps its memory cache over a restart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <memory>
#include <sstream>

#include "tests/support/http_client.h"
#include "tests/support/server_process.h"
#include "tests/support/temp_dir.h"
#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kServer = SEMRANK_BINARY_DIR "/semrank-server";

class CacheSnapshotServerTest : public ::testing::Test {
 protected:
  CacheSnapshotServerTest() { PublishTinyModel(model_dir_); }

  void Start(const std::string& interval = "5m") {
    server_ = std::make_unique<ServerProcess>(
        kServer, std::vector<std::string>{
                     "--model_dir=" + model_dir_, "--cache_snapshot=" + file_,
                     "--cache_snapshot_interval=" + interval});
  }
  int Stop(int signal_number = SIGTERM) {
    server_->Signal(signal_number);
    return server_->Wait();
  }
  // The ranking, from the first bracket on.
  std::string RankThree() const {
    const HttpAnswer answer =
        CallHttp(server_->http_address(), "POST", "/v1/rank",
                 {.body = R"({"query": "blue shoes",
                     "titles": ["red hat", "blue shoes", "a lamp"]})"});
    EXPECT_EQ(answer.status, 200) << answer.body;
    const std::size_t begin = answer.body.find('[');
    return answer.body.substr(begin, answer.body.find(']') - begin);
  }
  std::string Metrics() const {
    return HttpGet(server_->http_address(), "/metrics").body;
  }
  void ExpectMetric(const std::string& line) const {
    EXPECT_THAT(Metrics(), HasSubstr("\n" + line + "\n"));
  }
  std::string FileContent() const {
    std::stringstream content;
    content << std::ifstream(file_, std::ios::binary).rdbuf();
    return content.str();
  }

  const TempDir dir_;
  const std::string model_dir_ = dir_.File("tiny");
  const std::string file_ = dir_.File("cache");
  std::unique_ptr<ServerProcess> server_;
};

TEST_F(CacheSnapshotServerTest, TheFirstRankAfterARestartComputesNoVector) {
  Start();
  const std::string ranking = RankThree();
  EXPECT_EQ(Stop(), 0);
  Start("0");
  ExpectMetric("semrank_cache_snapshot_restored_vectors 3");
  EXPECT_EQ(RankThree(), ranking);
  ExpectMetric("semrank_texts_embedded_total{side=\"document\"} 0");
  ExpectMetric("semrank_cache_requests_total{result=\"hit\"} 3");
  // What came back is in the next snapshot too.
  EXPECT_EQ(Stop(), 0);
  Start();
  ExpectMetric("semrank_cache_snapshot_restored_vectors 3");
}

TEST_F(CacheSnapshotServerTest, AnotherVersionOfTheModelComputesAgain) {
  Start();
  RankThree();
  EXPECT_EQ(Stop(), 0);
  PublishTinyModel(model_dir_, {.seed = 2});
  Start();
  RankThree();
  ExpectMetric("semrank_cache_snapshot_restored_vectors 0");
  ExpectMetric("semrank_texts_embedded_total{side=\"document\"} 3");
}

TEST_F(CacheSnapshotServerTest, AKilledServerLeavesWhatTheTimerWrote) {
  Start("1ms");
  RankThree();
  while (Metrics().find("\nsemrank_cache_snapshot_vectors 3\n") ==
         std::string::npos) {
  }
  Stop(SIGKILL);
  Start();
  RankThree();
  ExpectMetric("semrank_texts_embedded_total{side=\"document\"} 0");
}

TEST_F(CacheSnapshotServerTest, ADamagedFileIsCountedAndReplacedAtTheEnd) {
  Start();
  RankThree();
  EXPECT_EQ(Stop(), 0);
  const std::string whole = FileContent();
  dir_.Write("cache", whole.substr(0, whole.size() - 1));
  Start();
  ExpectMetric("semrank_cache_snapshot_failures_total 1");
  EXPECT_EQ(FileContent().size(), whole.size() - 1);
  RankThree();
  ExpectMetric("semrank_texts_embedded_total{side=\"document\"} 3");
  EXPECT_EQ(Stop(), 0);
  EXPECT_EQ(FileContent().size(), whole.size());
  EXPECT_THAT(FileContent(), Not(HasSubstr("blue")));
}

TEST_F(CacheSnapshotServerTest, AForeignFileStaysAndTheServerEndsWell) {
  dir_.Write("cache", "remember the milk");
  Start();
  RankThree();
  EXPECT_EQ(Stop(), 0);
  EXPECT_EQ(FileContent(), "remember the milk");
}

}  // namespace
}  // namespace semrank
