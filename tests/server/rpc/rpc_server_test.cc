#include "server/rpc/rpc_server.h"

#include <grpcpp/generic/generic_stub.h>

#include <thread>

#include "grpc/health/v1/health.grpc.pb.h"
#include "semrank/v1/embedding_service.grpc.pb.h"
#include "semrank/v1/ranking_service.grpc.pb.h"
#include "tests/server/rpc/raw_stream.h"
#include "tests/server/rpc/rpc_server_fixture.h"
#include "tests/server/rpc/slow_reader.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::grpc::health::v1::Health;
using ::grpc::health::v1::HealthCheckRequest;
using ::grpc::health::v1::HealthCheckResponse;
using ::testing::HasSubstr;

constexpr const char* kServiceNames[] = {"",
                                         "semrank.v1.RankingService",
                                         "semrank.v1.EmbeddingService",
                                         "semrank.v1.CatalogService",
                                         "semrank.v1.ModelService",
                                         "semrank.v1.EventService"};

class RpcServerTest : public RpcServerFixture {
 protected:
  grpc::Status Check(const std::string& service,
                     HealthCheckResponse::ServingStatus& serving) {
    grpc::ClientContext context;
    HealthCheckRequest request;
    request.set_service(service);
    HealthCheckResponse response;
    const grpc::Status status = health_->Check(&context, request, &response);
    serving = response.status();
    return status;
  }
  HealthCheckResponse::ServingStatus MustCheck(const std::string& service) {
    HealthCheckResponse::ServingStatus serving;
    EXPECT_THAT(Check(service, serving), Succeeds());
    return serving;
  }

  // As the metrics see it: the answer is made.
  void WaitUntilAnswered() const {
    while (Handled("EmbeddingService", "EmbedTexts", "OK") < 1) {
      std::this_thread::yield();
    }
  }

  std::unique_ptr<Health::Stub> health_ = Health::NewStub(channel_);
};

// A Rank of one title in the background.
class BackgroundRank {
 public:
  explicit BackgroundRank(const std::shared_ptr<grpc::Channel>& channel)
      : stub_(v1::RankingService::NewStub(channel)) {
    request_.set_query("q");
    request_.add_titles("a title");
    stub_->async()->Rank(
        &context_, &request_, &response_,
        [this](const grpc::Status& status) { done_.set_value(status); });
  }
  grpc::Status Wait() { return done_.get_future().get(); }

 private:
  std::unique_ptr<v1::RankingService::Stub> stub_;
  grpc::ClientContext context_;
  v1::RankRequest request_;
  v1::RankResponse response_;
  std::promise<grpc::Status> done_;
};

// gRPC 1.51 frees the contexts of such calls in another way than those of ours.
TEST_F(RpcServerTest, CallsOfUnknownMethodsAreUnimplementedAndDoNoHarm) {
  for (const char* method : {"RankingService/Nope", "NopeService/Rank"}) {
    for (int i = 0; i < 20; ++i) {
      RawStream call(channel_, method);
      EXPECT_EQ(call.Finish().error_code(), grpc::StatusCode::UNIMPLEMENTED);
    }
    BackgroundRank rank(channel_);
    EXPECT_THAT(rank.Wait(), Succeeds());
  }
}

TEST_F(RpcServerTest, HealthIsServingForTheServerAndEachService) {
  for (const char* service : kServiceNames) {
    EXPECT_EQ(MustCheck(service), HealthCheckResponse::SERVING) << service;
  }
  HealthCheckResponse::ServingStatus unused;
  EXPECT_EQ(Check("no.such.Service", unused).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST_F(RpcServerTest, NotServingIsReportedWhileCallsAreStillAnswered) {
  grpc::ClientContext watch_context;
  HealthCheckRequest request;
  request.set_service("semrank.v1.RankingService");
  const auto watch = health_->Watch(&watch_context, request);
  HealthCheckResponse response;
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);

  server_->ReportNotServing();
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
  for (const char* service : kServiceNames) {
    EXPECT_EQ(MustCheck(service), HealthCheckResponse::NOT_SERVING) << service;
  }
  EXPECT_THAT(BackgroundRank(channel_).Wait(), Succeeds());
}

TEST_F(RpcServerTest, ReflectionListsEveryService) {
  grpc::GenericStub stub(channel_);
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  const auto stream = stub.PrepareCall(
      &context,
      "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", &queue);
  const auto wait = [&] {
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  };
  stream->StartCall(nullptr);
  ASSERT_TRUE(wait());
  const grpc::Slice list_services("\x3a\x00", 2);  // field 7: ""
  stream->Write(grpc::ByteBuffer(&list_services, 1), nullptr);
  ASSERT_TRUE(wait());
  grpc::ByteBuffer answer;
  stream->Read(&answer, nullptr);
  ASSERT_TRUE(wait());
  grpc::Slice slice;
  ASSERT_TRUE(answer.DumpToSingleSlice(&slice).ok());
  const std::string text(reinterpret_cast<const char*>(slice.begin()),
                         slice.size());
  for (const char* service : kServiceNames) {
    EXPECT_THAT(text, HasSubstr(service));
  }
  EXPECT_THAT(text, HasSubstr("grpc.health.v1.Health"));
  context.TryCancel();
  grpc::Status status;
  stream->Finish(&status, nullptr);
  wait();
  queue.Shutdown();
  while (wait()) {
  }
}

TEST_F(RpcServerTest, ASecondServerOnTheSamePortFailsToStart) {
  EXPECT_THAT(StartServer(server_->address()),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr(server_->address() + " (--listen_address)")));
  EXPECT_THAT(BackgroundRank(channel_).Wait(), Succeeds());
}

TEST_F(RpcServerTest, AnAddressOfAnotherMachineFailsToStart) {
  EXPECT_THAT(StartServer("192.0.2.1:0"),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(RpcServerTest, StopLetsARunningCallFinish) {
  gate_.Close();
  BackgroundRank running(channel_);
  gate_.WaitForArrival();
  auto stopped = std::async(std::launch::async,
                            [&] { return server_->Stop(absl::Minutes(5)); });
  grpc::Status refused;
  do {
    refused = CallRaw("ModelService/GetLimits", "");
  } while (refused.ok());
  EXPECT_THAT(refused, FailsWith(grpc::StatusCode::UNAVAILABLE, "DRAINING"));
  gate_.Open();
  EXPECT_THAT(running.Wait(), Succeeds());
  EXPECT_TRUE(stopped.get());
}

// An answer that is larger than what HTTP/2 sends ahead of a client's reading.
TEST_F(RpcServerTest, StopWaitsForAClientThatIsSlowToTakeItsAnswer) {
  SlowReader slow(server_->address());
  WaitUntilAnswered();
  auto stopped = std::async(std::launch::async,
                            [&] { return server_->Stop(absl::Minutes(5)); });
  EXPECT_EQ(stopped.wait_for(std::chrono::milliseconds(500)),
            std::future_status::timeout);
  EXPECT_EQ(slow.ReadNumBytes(), SlowReader::kNumVectorBytes);
  EXPECT_THAT(slow.Finish(), Succeeds());
  EXPECT_TRUE(stopped.get());
}

TEST_F(RpcServerTest, StopCutsAnAnswerThatIsNotTakenInItsTime) {
  SlowReader slow(server_->address());
  WaitUntilAnswered();
  EXPECT_FALSE(server_->Stop(absl::ZeroDuration()));
  EXPECT_EQ(slow.ReadNumBytes(), 0u);
  EXPECT_FALSE(slow.Finish().ok());
}

// The newcomer is served, and what holds most ends.
TEST_F(RpcServerTest, UnreadAnswersRefuseNoOtherCaller) {
  UnreadResponses unread(SlowReader::kNumVectorBytes * 3 / 2);
  unread_ = &unread;
  {
    const auto server = StartServer("127.0.0.1:0").value();
    SlowReader first(server->address());
    WaitUntilAnswered();
    SlowReader second(server->address());
    const auto channel = grpc::CreateChannel(
        server->address(), grpc::InsecureChannelCredentials());
    while (unread.num_ended() == 0) {
      EXPECT_THAT(BackgroundRank(channel).Wait(), Succeeds());
    }
    const std::size_t num_read = first.ReadNumBytes() + second.ReadNumBytes();
    EXPECT_EQ(num_read, SlowReader::kNumVectorBytes);
    EXPECT_NE(first.Finish().ok(), second.Finish().ok());
  }
  EXPECT_EQ(unread.num_bytes(), 0);
}

TEST_F(RpcServerTest, AnAnswerThatIsNotTakenInItsTimeIsCut) {
  send_timeout_ = absl::ZeroDuration();
  const auto server = StartServer("127.0.0.1:0").value();
  SlowReader slow(server->address());
  WaitUntilAnswered();
  EXPECT_TRUE(server->Stop(absl::Minutes(5)));
  EXPECT_EQ(slow.ReadNumBytes(), 0u);
  EXPECT_FALSE(slow.Finish().ok());
}

TEST_F(RpcServerTest, StopCancelsWhatIsStillRunningAfterItsTime) {
  gate_.Close();
  auto stub = v1::EmbeddingService::NewStub(channel_);
  grpc::ClientContext context;
  v1::EmbedTextsRequest request;
  request.set_side(v1::SIDE_DOCUMENT);
  for (int i = 0; i < 3000; ++i) request.add_texts(std::to_string(i));
  v1::EmbedTextsResponse response;
  std::promise<grpc::Status> done;
  stub->async()->EmbedTexts(
      &context, &request, &response,
      [&](const grpc::Status& status) { done.set_value(status); });
  gate_.WaitForArrival();
  auto stopped = std::async(
      std::launch::async, [&] { return server_->Stop(absl::ZeroDuration()); });
  EXPECT_FALSE(done.get_future().get().ok());
  gate_.Open();
  EXPECT_FALSE(stopped.get());
}

// Watch never ends by itself: it must not cost the whole drain time-out.
TEST_F(RpcServerTest, StopDoesNotWaitForHealthWatches) {
  grpc::ClientContext context;
  const auto watch = health_->Watch(&context, HealthCheckRequest());
  HealthCheckResponse response;
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_TRUE(server_->Stop(absl::Hours(1)));
  while (watch->Read(&response)) {
  }
  EXPECT_FALSE(watch->Finish().ok());
}

TEST_F(RpcServerTest, HostileBytesDoNotReachStandardError) {
  testing::internal::CaptureStderr();
  for (int i = 0; i < 100; ++i) {
    CallRaw("RankingService/Rank", "\xff\xff");
    CallRaw("ModelService/GetModel", "\x0a\x03\x0a\x01\xff");
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace semrank
