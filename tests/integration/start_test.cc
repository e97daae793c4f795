// Tests a server that is not ready yet: what it logs, answers, and does at
// signals.
#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <thread>

#include "grpc/health/v1/health.grpc.pb.h"
#include "semrank/v1/model_service.grpc.pb.h"
#include "semrank/v1/ranking_service.grpc.pb.h"
#include "tests/integration/server_program.h"
#include "tests/support/http_client.h"
#include "tests/support/run_program.h"
#include "tests/support/server_process.h"
#include "tests/support/temp_dir.h"
#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

using ::grpc::health::v1::Health;
using ::grpc::health::v1::HealthCheckRequest;
using ::grpc::health::v1::HealthCheckResponse;
using ::testing::HasSubstr;

std::shared_ptr<grpc::Channel> Connect(const std::string& address) {
  return grpc::CreateChannel(address, grpc::InsecureChannelCredentials());
}

// The server waits for a model that does not exist yet.
class StartTest : public ::testing::Test {
 protected:
  const TempDir dir_;
  const std::string model_dir_ = dir_.File("tiny");
  std::unique_ptr<ServerProcess> server_ = ServerProcess::StartListening(
      kServer, {"--model_dir=" + model_dir_, "--wait_for_model",
                "--model_poll_interval=10ms", "--health_address=127.0.0.1:0"});
  std::shared_ptr<grpc::Channel> channel_ = Connect(server_->grpc_address());
};

TEST_F(StartTest, WhileItWaitsItIsAliveAndNotServingUntilTheModelComes) {
  HealthCheckResponse health, separate;
  grpc::ClientContext watching, separately;
  const auto watch = Health::NewStub(channel_)->Watch(&watching, {});
  const auto separate_watch =
      Health::NewStub(Connect(server_->health_address()))
          ->Watch(&separately, {});
  ASSERT_TRUE(watch->Read(&health));
  ASSERT_TRUE(separate_watch->Read(&separate));
  EXPECT_EQ(health.status(), HealthCheckResponse::NOT_SERVING);
  EXPECT_EQ(separate.status(), HealthCheckResponse::NOT_SERVING);
  EXPECT_EQ(HttpGet(server_->http_address(), "/healthz").status, 200);
  EXPECT_EQ(HttpGet(server_->http_address(), "/readyz").status, 503);

  PublishTinyModel(model_dir_);
  ASSERT_TRUE(watch->Read(&health));
  ASSERT_TRUE(separate_watch->Read(&separate));
  EXPECT_EQ(health.status(), HealthCheckResponse::SERVING);
  EXPECT_EQ(separate.status(), HealthCheckResponse::SERVING);
  EXPECT_EQ(HttpGet(server_->http_address(), "/readyz").status, 200);
}

TEST_F(StartTest, WhileItWaitsModelsAndLimitsAreToldAndOtherCallsUnavailable) {
  const auto models = v1::ModelService::NewStub(channel_);
  v1::GetLimitsResponse limits;
  v1::ListModelsResponse list;
  v1::GetModelResponse model;
  v1::ReloadModelResponse reloaded;
  v1::RankResponse ranking;
  grpc::ClientContext contexts[5];
  EXPECT_TRUE(models->GetLimits(&contexts[0], {}, &limits).ok());
  EXPECT_GT(limits.limits().max_request_bytes(), 0);
  EXPECT_TRUE(models->ListModels(&contexts[1], {}, &list).ok());
  EXPECT_EQ(list.models_size(), 0);
  EXPECT_EQ(models->GetModel(&contexts[2], {}, &model).error_code(),
            grpc::StatusCode::UNAVAILABLE);
  const grpc::Status reload = models->ReloadModel(&contexts[3], {}, &reloaded);
  EXPECT_EQ(reload.error_code(), grpc::StatusCode::UNAVAILABLE);
  const grpc::Status rank =
      v1::RankingService::NewStub(channel_)->Rank(&contexts[4], {}, &ranking);
  EXPECT_EQ(rank.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(rank.error_message(), "no model is loaded yet");
}

TEST_F(StartTest, SigtermWhileItWaitsEndsItWithZero) {
  server_->Signal(SIGHUP);
  server_->Signal(SIGTERM);
  EXPECT_EQ(server_->Wait(), 0);
}

TEST_F(StartTest, ATakenPortEndsAWaitBeforeItBegins) {
  // The error is in the log, in the log's format.
  const ProgramResult json = RunProgram(
      {kServer, "--model_dir=" + model_dir_, "--http_address=127.0.0.1:0",
       "--log_format=json", "--listen_address=" + server_->grpc_address()});
  EXPECT_EQ(json.exit_code, 1);
  EXPECT_THAT(json.err, ::testing::StartsWith("{\"time\":"));
  EXPECT_THAT(json.err, HasSubstr("\"critical\",\"message\":\"cannot listen"));
  for (const std::string flag : {"listen", "http", "health"}) {
    const std::string& taken = flag == "listen" ? server_->grpc_address()
                               : flag == "http" ? server_->http_address()
                                                : server_->health_address();
    const ProgramResult second = RunProgram(
        {kServer, "--model_dir=" + model_dir_, "--wait_for_model",
         "--listen_address=127.0.0.1:0", "--http_address=127.0.0.1:0",
         "--" + flag + "_address=" + taken});
    EXPECT_EQ(second.exit_code, 1) << flag;
    EXPECT_THAT(second.err, HasSubstr(taken));
  }
}

// The signal arrives before these titles are embedded.
TEST(StartSignalTest, SigtermWhileItWarmsUpEndsItWithZero) {
  const TempDir dir;
  PublishTinyModel(dir.File("tiny"));
  std::string titles;
  for (int i = 0; i < 200'000; ++i) {
    titles +=
        std::to_string(i) + "\tsome words of title " + std::to_string(i) + "\n";
  }
  const auto server = ServerProcess::StartListening(
      kServer, {"--model_dir=" + dir.File("tiny"),
                "--warm_catalog=" + dir.Write("titles.tsv", titles)});
  server->Signal(SIGTERM);
  EXPECT_EQ(server->Wait(), 0);
}

}  // namespace
}  // namespace semrank
