// Restarts and kills the real semrank-server with a document store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "absl/strings/str_format.h"
#include "tests/integration/server_program.h"
#include "tests/support/http_client.h"
#include "tests/support/redis_process.h"
#include "tests/support/run_program.h"
#include "tests/support/server_process.h"
#include "tests/support/temp_dir.h"
#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class StoreTest : public ::testing::Test {
 protected:
  StoreTest() { PublishTinyModel(model_dir_); }

  std::vector<std::string> Flags() const {
    return {"--model_dir=" + model_dir_, "--store=" + store_,
            "--store_timeout=" + timeout_};
  }
  void Start() { server_ = std::make_unique<ServerProcess>(kServer, Flags()); }
  int Stop(int signal_number) {
    server_->Signal(signal_number);
    return server_->Wait();
  }
  void RankThree() {
    const HttpAnswer answer =
        CallHttp(server_->http_address(), "POST", "/v1/rank",
                 {.body = R"({"query": "blue shoes",
                     "titles": ["red hat", "blue shoes", "a lamp"]})"});
    EXPECT_EQ(answer.status, 200) << answer.body;
  }
  std::string Metrics() const {
    return HttpGet(server_->http_address(), "/metrics").body;
  }
  void WaitForMetric(const std::string& line) const {
    const auto limit =
        std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (Metrics().find("\n" + line + "\n") == std::string::npos) {
      ASSERT_LT(std::chrono::steady_clock::now(), limit) << Metrics();
      std::this_thread::yield();
    }
  }
  void ExpectNothingWasComputed() const {
    EXPECT_THAT(Metrics(),
                HasSubstr("semrank_texts_embedded_total{side=\"document\"} 0"));
    EXPECT_THAT(Metrics(),
                HasSubstr("semrank_store_requests_total{result=\"hit\"} 3"));
  }

  const TempDir dir_;
  const std::string model_dir_ = dir_.File("tiny");
  std::string store_ = "rocksdb:" + dir_.File("store");
  // The timeout is long because machines that run tests are slow at times.
  std::string timeout_ = "5s";
  std::unique_ptr<ServerProcess> server_;
};

TEST_F(StoreTest, TheFirstRankAfterARestartComputesNoVector) {
  Start();
  RankThree();
  EXPECT_EQ(Stop(SIGTERM), 0);
  Start();
  RankThree();
  ExpectNothingWasComputed();
}

TEST_F(StoreTest, NorDoesTheFirstRankAfterAKill) {
  Start();
  RankThree();
  WaitForMetric("semrank_store_written_vectors_total 3");
  Stop(SIGKILL);
  Start();
  RankThree();
  ExpectNothingWasComputed();
}

TEST_F(StoreTest, ANewModelComputesItsOwnVectors) {
  Start();
  RankThree();
  EXPECT_EQ(Stop(SIGTERM), 0);
  PublishTinyModel(model_dir_, {.seed = 2});
  Start();
  RankThree();
  EXPECT_THAT(Metrics(),
              HasSubstr("semrank_texts_embedded_total{side=\"document\"} 3"));
}

TEST_F(StoreTest, ASecondServerOnTheStoreDoesNotStartAndNamesIt) {
  Start();
  std::vector<std::string> command = Flags();
  command.insert(command.begin(), kServer);
  const ProgramResult result = RunProgram(command);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr(store_ + ": another process"));
}

// The store's disk has 12 MiB of memory and is the server's own: a mount that
// only its process sees.
class FullDiskTest : public StoreTest {
 protected:
  FullDiskTest() {
    store_ = "rocksdb:" + disk_ + "/store";
    std::filesystem::create_directory(disk_);
    program_ =
        dir_.Write("server_with_a_small_disk",
                   absl::StrFormat(
                       "#!/bin/sh\nexec unshare --user --map-root-user --mount "
                       "sh -c 'mount -t tmpfs -o size=12m tmpfs %s && "
                       "exec %s \"$@\"' sh \"$@\"\n",
                       disk_, kServer));
    std::filesystem::permissions(program_, std::filesystem::perms::owner_all);
  }
  void SetUp() override {
    if (RunProgram({"/usr/bin/unshare", "--user", "--map-root-user", "--mount",
                    "true"})
            .exit_code != 0) {
      GTEST_SKIP() << "this system does not allow a mount for a test";
    }
    server_ = std::make_unique<ServerProcess>(program_, Flags());
  }
  // A file on the disk that the server sees.
  std::string FillerPath() const {
    return absl::StrFormat("/proc/%d/root%s/filler", server_->pid(), disk_);
  }
  void FillTheDisk() const {
    std::ofstream filler(FillerPath());
    const std::string block(4'096, 'x');
    while (filler.write(block.data(), std::ssize(block)).flush()) {
    }
  }
  ProgramResult Put(const std::string& id) const {
    return RunProgram({SEMRANK_BINARY_DIR "/semrank", "put",
                       "--address=" + server_->grpc_address(), "--documents=-"},
                      {.input = id + "\tblue shoes\n"});
  }

  const std::string disk_ = dir_.File("disk");
  std::string program_;
};

TEST_F(FullDiskTest, PutsAreRefusedRankingGoesOnAndRoomIsUsedAgain) {
  EXPECT_EQ(Put("before").exit_code, 0);
  FillTheDisk();
  const ProgramResult refused = Put("refused");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("the disk is full: 0.0 MiB are free"));
  RankThree();
  std::filesystem::remove(FillerPath());
  const ProgramResult after = Put("after");
  EXPECT_EQ(after.exit_code, 0) << after.err;
  EXPECT_EQ(Stop(SIGTERM), 0);
}

TEST_F(StoreTest, AReplicaFindsInRedisWhatAnotherComputed) {
  const RedisProcess redis;
  store_ = redis.url();
  Start();
  RankThree();
  WaitForMetric("semrank_store_written_vectors_total 3");
  const auto first = std::move(server_);
  Start();
  RankThree();
  ExpectNothingWasComputed();
}

TEST_F(StoreTest, RanksWhileRedisIsFrozenAndUsesItAfterwards) {
  const RedisProcess redis;
  store_ = redis.url();
  timeout_ = "50ms";
  Start();
  redis.Freeze();
  RankThree();
  EXPECT_THAT(Metrics(), HasSubstr("semrank_store_bypassed 1"));
  EXPECT_THAT(Metrics(),
              HasSubstr("semrank_texts_embedded_total{side=\"document\"} 3"));
  redis.Thaw();
  WaitForMetric("semrank_store_bypassed 0");
  EXPECT_EQ(Stop(SIGTERM), 0);
}

TEST_F(StoreTest, WithoutItsRedisAServerDoesNotStartAndNamesIt) {
  RedisProcess redis;
  store_ = redis.url();
  redis.Kill();
  std::vector<std::string> command = Flags();
  command.insert(command.begin(), kServer);
  const ProgramResult result = RunProgram(command);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr(store_ + "/0: Connection refused"));
}

TEST_F(StoreTest, ARedisThatRefusesThePasswordEndsTheStartWithoutSayingIt) {
  const RedisProcess redis({"--requirepass", "secret"});
  const ProgramResult result = RunProgram(
      {kServer, "--model_dir=" + model_dir_,
       "--store=redis://:hush@127.0.0.1:" + std::to_string(redis.port())});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("WRONGPASS"));
  EXPECT_THAT(result.err, Not(HasSubstr("hush")));
}

TEST_F(StoreTest, ThePrintedConfigurationHidesThePassword) {
  const ProgramResult good =
      RunProgram({kServer, "--model_dir=" + model_dir_, "--check_config",
                  "--store=redis://me:hush@host/1"});
  EXPECT_THAT(good.out, HasSubstr("\nstore=redis://***@host/1\n"));
  const ProgramResult bad = RunProgram(
      {kServer, "--model_dir=" + model_dir_, "--store=redis://me:hush@host/x"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.err, HasSubstr("--store=redis://***@host/x"));
  EXPECT_THAT(bad.err, Not(HasSubstr("hush")));
}

}  // namespace
}  // namespace semrank
