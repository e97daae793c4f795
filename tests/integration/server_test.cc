// Starts, calls and stops the real semrank-server as an operator does.
#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <future>
#include <thread>
#include <vector>

#include "grpc/health/v1/health.grpc.pb.h"
#include "semrank/v1/embedding_service.grpc.pb.h"
#include "semrank/v1/ranking_service.grpc.pb.h"
#include "tests/integration/server_program.h"
#include "tests/support/http_client.h"
#include "tests/support/plain_client.h"
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
using ::testing::StartsWith;

class ServerTest : public ::testing::Test {
 protected:
  ServerTest() { PublishTinyModel(model_dir_); }

  std::unique_ptr<ServerProcess> Start(std::vector<std::string> flags = {}) {
    flags.push_back("--model_dir=" + model_dir_);
    auto server = std::make_unique<ServerProcess>(kServer, flags);
    channel_ = grpc::CreateChannel(server->grpc_address(),
                                   grpc::InsecureChannelCredentials());
    return server;
  }
  ProgramResult RunServer(std::vector<std::string> flags) {
    flags.insert(flags.begin(), kServer);
    return RunProgram(flags);
  }
  v1::RankResponse Rank(const std::string& model = "") {
    const auto stub = v1::RankingService::NewStub(channel_);
    grpc::ClientContext context;
    v1::RankRequest request;
    request.set_query("blue shoes");
    request.mutable_model()->set_name(model);
    for (const char* title : {"red hat", "shoes that are blue", "a lamp"}) {
      request.add_titles(title);
    }
    v1::RankResponse response;
    const grpc::Status status = stub->Rank(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  const TempDir dir_;
  const std::string model_dir_ = dir_.File("tiny");
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(ServerTest, ServesGrpcAndHttpAndEndsWithZeroOnSigterm) {
  const auto server = Start();
  EXPECT_EQ(Rank().cache_misses(), 3u);
  EXPECT_EQ(Rank().cache_hits(), 3u);
  EXPECT_EQ(HttpGet(server->http_address(), "/healthz").status, 200);
  EXPECT_EQ(HttpGet(server->http_address(), "/readyz").status, 200);
  const std::string metrics = HttpGet(server->http_address(), "/metrics").body;
  for (const char* line :
       {"semrank_texts_embedded_total{side=\"document\"} 3\n",
        "semrank_cache_requests_total{result=\"hit\"} 3\n",
        "semrank_cache_entries 4\n", "semrank_inflight_texts 0\n",
        "process_resident_memory_bytes", "semrank_build_info",
        "semrank_model_info{dim=\"16\""}) {
    EXPECT_THAT(metrics, HasSubstr(line));
  }
  server->Signal(SIGTERM);
  EXPECT_EQ(server->Wait(), 0);
}

TEST_F(ServerTest, DrainReportsNotServingAndStillAnswersForItsDelay) {
  const auto server = Start({"--drain_delay=3s"});
  const auto health = Health::NewStub(channel_);
  grpc::ClientContext context;
  const auto watch = health->Watch(&context, HealthCheckRequest());
  HealthCheckResponse response;
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
  server->Signal(SIGTERM);
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
  EXPECT_EQ(HttpGet(server->http_address(), "/readyz").status, 503);
  EXPECT_EQ(HttpGet(server->http_address(), "/healthz").status, 200);
  EXPECT_EQ(Rank().indices_size(), 3);
  EXPECT_EQ(server->Wait(), 0);
}

TEST_F(ServerTest, ACallThatRunsWhenSigtermComesIsFinished) {
  const auto server = Start();
  const auto stub = v1::EmbeddingService::NewStub(channel_);
  grpc::ClientContext context;
  v1::EmbedTextsRequest request;
  request.set_side(v1::SIDE_DOCUMENT);
  for (int i = 0; i < 10'000; ++i) {
    request.add_texts("a title of some length, number " + std::to_string(i));
  }
  v1::EmbedTextsResponse response;
  std::promise<grpc::Status> done;
  stub->async()->EmbedTexts(
      &context, &request, &response,
      [&](const grpc::Status& status) { done.set_value(status); });
  const std::string started =
      "grpc_server_started_total{grpc_method=\"EmbedTexts\",grpc_service="
      "\"semrank.v1.EmbeddingService\",grpc_type=\"unary\"} 1\n";
  while (HttpGet(server->http_address(), "/metrics").body.find(started) ==
         std::string::npos) {
    std::this_thread::yield();
  }
  server->Signal(SIGTERM);
  const grpc::Status status = done.get_future().get();
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.vectors().size(), 10'000u * 16 * sizeof(float));
  EXPECT_EQ(server->Wait(), 0);
}

TEST_F(ServerTest, AJsonCallThatRunsWhenSigtermComesIsFinished) {
  const auto server = Start({"--drain_timeout=1m"});
  std::string body = R"({"side": "SIDE_DOCUMENT", "texts": ["a title")";
  for (int i = 1; i < 10'000; ++i) {
    body += ",\"a title of some length, number " + std::to_string(i) + "\"";
  }
  body += "]}";
  auto call = std::async(std::launch::async, [&] {
    return CallHttp(server->http_address(), "POST", "/v1/embed",
                    {.body = body});
  });
  const std::string started =
      "grpc_server_started_total{grpc_method=\"EmbedTexts\",grpc_service="
      "\"semrank.v1.EmbeddingService\",grpc_type=\"http\"} 1\n";
  while (HttpGet(server->http_address(), "/metrics").body.find(started) ==
         std::string::npos) {
    std::this_thread::yield();
  }
  server->Signal(SIGTERM);
  const HttpAnswer answer = call.get();
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, ::testing::EndsWith("}\n"));
  EXPECT_EQ(server->Wait(), 0);
}

TEST_F(ServerTest, ASecondSignalEndsItAtOnce) {
  const auto server = Start({"--drain_delay=1h"});
  const auto health = Health::NewStub(channel_);
  grpc::ClientContext context;
  const auto watch = health->Watch(&context, HealthCheckRequest());
  HealthCheckResponse response;
  ASSERT_TRUE(watch->Read(&response));
  server->Signal(SIGTERM);
  ASSERT_TRUE(watch->Read(&response));
  server->Signal(SIGTERM);
  EXPECT_EQ(server->Wait(), 128 + SIGTERM);
}

TEST_F(ServerTest, ACrowdThatTakesEveryPlaceIsSurvived) {
  const std::string with_few_files =
      dir_.Write("with_few_files",
                 "#!/bin/sh\nulimit -n 64\nexec " + kServer + " \"$@\"\n");
  std::filesystem::permissions(with_few_files, std::filesystem::perms::all);
  const ServerProcess server(with_few_files, {"--model_dir=" + model_dir_});
  const auto metrics = [&] {
    return HttpGet(server.http_address(), "/metrics").body;
  };
  {
    std::vector<PlainClient> crowd(200);
    for (PlainClient& client : crowd) {
      ASSERT_TRUE(client.Connect(server.grpc_address()));
    }
    EXPECT_EQ(crowd.back().Read(), '\0');
  }
  while (metrics().find("semrank_open_connections 0\n") == std::string::npos) {
  }
  channel_ = grpc::CreateChannel(server.grpc_address(),
                                 grpc::InsecureChannelCredentials());
  EXPECT_EQ(Rank().indices_size(), 3);
  EXPECT_THAT(metrics(), HasSubstr("semrank_connections_limit 16\n"));
}

TEST_F(ServerTest, TakenPortsFailTheStartAndAreNamed) {
  const auto server = Start();
  const ProgramResult grpc =
      RunServer({"--model_dir=" + model_dir_, "--http_address=127.0.0.1:0",
                 "--listen_address=" + server->grpc_address()});
  EXPECT_EQ(grpc.exit_code, 1);
  EXPECT_THAT(grpc.err,
              HasSubstr("cannot listen for gRPC on " + server->grpc_address()));
  EXPECT_THAT(grpc.err, ::testing::Not(HasSubstr("gRPC: ")));
  const ProgramResult http =
      RunServer({"--model_dir=" + model_dir_, "--listen_address=127.0.0.1:0",
                 "--http_address=" + server->http_address()});
  EXPECT_EQ(http.exit_code, 1);
  EXPECT_THAT(http.err,
              HasSubstr("cannot listen for HTTP on " + server->http_address()));
  EXPECT_EQ(Rank().indices_size(), 3);
}

TEST_F(ServerTest, MissingAndDamagedModelsFailTheStartAndAreNamed) {
  const ProgramResult missing = RunServer(
      {"--model_dir=" + dir_.File("none"), "--http_address=127.0.0.1:0"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr(dir_.File("none")));

  const std::string weights = model_dir_ + "/1/weights.safetensors";
  std::filesystem::resize_file(weights, 1000);
  const ProgramResult damaged =
      RunServer({"--model_dir=" + model_dir_, "--http_address=127.0.0.1:0"});
  EXPECT_EQ(damaged.exit_code, 1);
  EXPECT_THAT(damaged.err, HasSubstr(weights));
  EXPECT_EQ(damaged.out, "");
}

TEST_F(ServerTest, NewVersionsAreServedAsTheyAppearAndAtAHangup) {
  const auto polling = Start({"--model_poll_interval=10ms"});
  ASSERT_EQ(Rank().model().version(), 1);
  PublishTinyModel(model_dir_, {.seed = 2});
  while (Rank().model().version() != 2) std::this_thread::yield();

  const auto reloading = Start({"--model_poll_interval=0"});
  ASSERT_EQ(Rank().model().version(), 2);
  PublishTinyModel(model_dir_, {.seed = 3});
  reloading->Signal(SIGHUP);
  while (Rank().model().version() != 3) std::this_thread::yield();
}

TEST_F(ServerTest, SeveralModelsAreServedSideBySideAndOneIsPinned) {
  PublishTinyModel(model_dir_, {.seed = 2});
  PublishTinyModel(dir_.File("news"), {.embedding_dim = 8, .seed = 3});
  const ServerProcess server(
      kServer, {"--model_dir=shop=" + model_dir_ + ",news=" + dir_.File("news"),
                "--model_version=shop=1"});
  channel_ = grpc::CreateChannel(server.grpc_address(),
                                 grpc::InsecureChannelCredentials());
  EXPECT_EQ(Rank().model().ShortDebugString(), "name: \"shop\" version: 1");
  EXPECT_EQ(Rank("news").model().ShortDebugString(),
            "name: \"news\" version: 1");
  EXPECT_EQ(Rank("news").cache_hits(), 3u);
}

TEST_F(ServerTest, WaitsForAModelWhenItIsToldTo) {
  const std::string later = dir_.File("later");
  auto starting = std::async(std::launch::async, [&] {
    return std::make_unique<ServerProcess>(
        kServer, std::vector<std::string>{"--model_dir=" + later,
                                          "--model_poll_interval=10ms",
                                          "--wait_for_model"});
  });
  PublishTinyModel(later);
  EXPECT_NE(starting.get()->grpc_address(), "");
}

TEST_F(ServerTest, WrongUseExitsWithTwoAndNamesTheFlag) {
  for (const auto& [flags, message] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{}, "--model_dir"},
           {{"--model_dir=x", "--listen_address=nowhere"}, "--listen_address"},
           {{"--model_dir=x", "--no_such_flag=1"}, "no_such_flag"},
           {{"--model_dir=x", "extra"}, "extra"}}) {
    const ProgramResult result = RunServer(flags);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr(message));
  }
}

TEST_F(ServerTest, ConfigIsPrintedAsItWouldBeUsed) {
  for (const char* flag : {"--check_config", "--print_config"}) {
    const ProgramResult result =
        RunServer({"--model_dir=anything", "--cache_bytes=1000", flag});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.out, StartsWith("model_dir=anything\n"));
    EXPECT_THAT(result.out, HasSubstr("\ncache_bytes=1000\n"));
  }
}

TEST_F(ServerTest, PrintConfigOpensNoFile) {
  EXPECT_EQ(
      RunServer({"--model_dir=x", "--api_keys_file=missing", "--print_config"})
          .exit_code,
      0);
}

TEST_F(ServerTest, CheckConfigNamesTheFileThatCannotBeUsed) {
  const std::string keys = dir_.Write("keys", "reader no-hash\n");
  const std::string cert = dir_.Write("cert.pem", "no certificate");
  const std::string missing = dir_.File("missing");
  for (const auto& [flags, named] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--api_keys_file=" + missing}, missing},
           {{"--api_keys_file=" + keys}, keys},
           {{"--tls_cert=" + missing, "--tls_key=" + cert}, missing},
           {{"--tls_cert=" + cert, "--tls_key=" + missing}, missing},
           {{"--tls_cert=" + cert, "--tls_key=" + cert}, cert}}) {
    std::vector<std::string> all = {"--model_dir=x", "--check_config"};
    all.insert(all.end(), flags.begin(), flags.end());
    const ProgramResult result = RunServer(all);
    EXPECT_NE(result.exit_code, 0) << flags[0];
    EXPECT_THAT(result.err, HasSubstr(named));
  }
}

TEST_F(ServerTest, AFlagOverridesTheEnvironmentAndThatTheConfigFile) {
  const std::string file = dir_.Write(
      "server.conf", "cache_bytes=1\nmax_text_bytes=1\ndrain_delay=1s\n");
  const ProgramResult result = RunProgram(
      {kServer, "--check_config", "--model_dir=x", "--config=" + file,
       "--cache_bytes=3"},
      {.environment = {"SEMRANK_CACHE_BYTES=2", "SEMRANK_MAX_TEXT_BYTES=2"}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("\ncache_bytes=3\n"));
  EXPECT_THAT(result.out, HasSubstr("\nmax_text_bytes=2\n"));
  EXPECT_THAT(result.out, HasSubstr("\ndrain_delay=1s\n"));
}

TEST_F(ServerTest, SpeaksJsonAndShowsItsStatusOnTheSecondPort) {
  const auto server = Start({"--slow_request_threshold=1h"});
  const HttpAnswer ranked =
      CallHttp(server->http_address(), "POST", "/v1/rank",
               {.body = R"({"query": "shoes", "titles": ["blue shoes"]})"});
  EXPECT_EQ(ranked.status, 200);
  EXPECT_THAT(ranked.body, HasSubstr("\"scores\":["));
  EXPECT_EQ(Rank().cache_hits(), 0u);
  const HttpAnswer status = HttpGet(server->http_address(), "/statusz");
  EXPECT_EQ(status.status, 200);
  EXPECT_THAT(status.content_type, HasSubstr("text/html"));
  EXPECT_THAT(status.body,
              HasSubstr("tiny</th><td data-label=\"version\">1</td>"
                        "<td data-label=\"state\">serving</td>"));
}

}  // namespace
}  // namespace semrank
