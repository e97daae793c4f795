// A StreamCall alone: a service of the test's own takes the messages and says
// when they are answered.
#include "server/rpc/stream_call.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <string>
#include <thread>
#include <vector>

#include "semrank/v1/embedding_service.grpc.pb.h"
#include "server/base/errors.h"
#include "tests/server/rpc/raw_stream.h"
#include "tests/server/rpc/rpc_server_fixture.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

grpc::ByteBuffer Bytes(const std::string& text) {
  const grpc::Slice slice(text);
  return grpc::ByteBuffer(&slice, 1);
}

// The messages that a stream has taken and the test has not answered.
class Taken {
 public:
  void Add(StreamCall* stream, const grpc::Slice& bytes) {
    const MutexLock lock(mutex_);
    stream_ = stream;
    messages_.emplace_back(bytes.begin(), bytes.end());
    changed_.NotifyAll();
  }
  // Waits until there have been `count` of them.
  std::vector<std::string> WaitFor(std::size_t count) {
    const MutexLock lock(mutex_);
    while (messages_.size() < count) changed_.Wait(mutex_);
    return messages_;
  }
  std::size_t size() {
    const MutexLock lock(mutex_);
    return messages_.size();
  }
  StreamCall& stream() {
    const MutexLock lock(mutex_);
    return *stream_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  StreamCall* stream_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::vector<std::string> messages_ ABSL_GUARDED_BY(mutex_);
};

class TakingStream final : public StreamCall {
 public:
  TakingStream(const ServerParts& parts, OpenCalls& calls,
               const Metrics::Stream& metrics,
               grpc::CallbackServerContext& context, Taken& taken)
      : StreamCall(MethodOf(MethodId::kRankStream), parts, calls, metrics,
                   context),
        taken_(taken) {}

 private:
  void Take(grpc::Slice bytes) override { taken_.Add(this, bytes); }

  Taken& taken_;
};

using TakingServiceBase =
    v1::EmbeddingService::WithRawCallbackMethod_EmbedTextsStream<
        v1::EmbeddingService::Service>;

class TakingService final : public TakingServiceBase {
 public:
  TakingService(const ServerParts& parts, OpenCalls& calls, Taken& taken)
      : parts_(parts),
        calls_(calls),
        taken_(taken),
        metrics_(parts.metrics->AddStream("test", "Stream")) {}

  static constexpr int kMaxRequests = 2;

  RawStreamReactor* EmbedTextsStream(
      grpc::CallbackServerContext* context) override {
    auto* const stream =
        new TakingStream(parts_, calls_, metrics_, *context, taken_);
    stream->Begin();
    return stream;
  }

 private:
  const ServerParts& parts_;
  OpenCalls& calls_;
  Taken& taken_;
  const Metrics::Stream metrics_;
};

class StreamCallTest : public ::testing::Test {
 protected:
  StreamCallTest() {
    lifecycle_.Advance(Lifecycle::State::kServing);
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                             &port);
    builder.SetContextAllocator(OpenCalls::MakeContexts());
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    // gRPC must not read ahead on its own account.
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 16'384);
    channel_ = grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(port),
                                         grpc::InsecureChannelCredentials(),
                                         arguments);
  }
  ~StreamCallTest() override {
    server_->Shutdown(std::chrono::system_clock::now());
  }

  std::unique_ptr<RawStream> Open() {
    return std::make_unique<RawStream>(channel_,
                                       "EmbeddingService/EmbedTextsStream");
  }
  void Answer(const std::string& text) {
    taken_.stream().Answer(absl::OkStatus(), Bytes(text));
  }
  static std::string Read(RawStream& client) {
    std::string answer;
    return client.Read(answer) ? answer : "none";
  }
  // As the metrics count them.
  std::size_t NumReceived() const {
    const std::string text = metrics_.Render();
    const std::string series =
        "grpc_server_msg_received_total{grpc_method=\"Stream\",grpc_service="
        "\"test\",grpc_type=\"bidi_stream\"} ";
    return std::stoul(text.substr(text.find(series) + series.size()));
  }

  Metrics metrics_;
  Lifecycle lifecycle_;
  const ServerParts parts_ = {
      .limits = {.max_requests_per_stream = TakingService::kMaxRequests},
      .lifecycle = &lifecycle_,
      .metrics = &metrics_};
  UnreadResponses unread_{/*max_bytes=*/4 << 20};
  OpenCalls calls_{&unread_, kSendTimeout};
  Taken taken_;
  TakingService service_{parts_, calls_, taken_};
  std::unique_ptr<grpc::Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(StreamCallTest, AnswersComeInTheOrderInWhichTheyAreMade) {
  const auto client = Open();
  client->Write("a");
  client->Write("b");
  // Two threads take them.
  EXPECT_THAT(taken_.WaitFor(2), ::testing::UnorderedElementsAre("a", "b"));
  Answer("of b");
  Answer("of a");
  EXPECT_EQ(Read(*client), "of b");
  EXPECT_EQ(Read(*client), "of a");
  client->HalfClose();
  EXPECT_EQ(Read(*client), "none");
  EXPECT_THAT(client->Finish(), Succeeds());
}

TEST_F(StreamCallTest, NoMoreIsReadThanMayBeInFlight) {
  const auto client = Open();
  for (const char* text : {"a", "b", "c"}) client->Write(text);
  taken_.WaitFor(TakingService::kMaxRequests);
  EXPECT_EQ(NumReceived(), std::size_t{TakingService::kMaxRequests});
  Answer("of a");
  EXPECT_EQ(taken_.WaitFor(3).back(), "c");
  Answer("of b");
  Answer("of c");
  client->HalfClose();
  for (const char* text : {"of a", "of b", "of c", "none"}) {
    EXPECT_EQ(Read(*client), text);
  }
}

TEST_F(StreamCallTest, HalfCloseWaitsForWhatIsInFlight) {
  const auto client = Open();
  client->Write("a");
  taken_.WaitFor(1);
  client->HalfClose();
  Answer("of a");
  EXPECT_EQ(Read(*client), "of a");
  EXPECT_EQ(Read(*client), "none");
  EXPECT_THAT(client->Finish(), Succeeds());
}

TEST_F(StreamCallTest, EndAnswersWhatIsInFlightAndThenSaysWhy) {
  const auto client = Open();
  client->Write("a");
  client->Write("b");
  taken_.WaitFor(2);
  StreamCall& stream = taken_.stream();
  stream.End(FieldError("INVALID_FIELD", "b", "is bad"));
  stream.Answer(absl::OkStatus(), Bytes("of a"));
  EXPECT_EQ(Read(*client), "of a");
  EXPECT_EQ(Read(*client), "none");
  EXPECT_THAT(client->Finish(), FailsWith(grpc::StatusCode::INVALID_ARGUMENT,
                                          std::string("INVALID_FIELD")));
}

TEST_F(StreamCallTest, AStopEndsOpenStreamsOnceTheyHaveAnswered) {
  const auto client = Open();
  client->Write("a");
  taken_.WaitFor(1);
  calls_.EndStreams();
  EXPECT_FALSE(calls_.WaitUntilIdle(std::chrono::steady_clock::now()));
  Answer("of a");
  EXPECT_EQ(Read(*client), "of a");
  EXPECT_EQ(Read(*client), "none");
  EXPECT_THAT(client->Finish(), FailsWith(grpc::StatusCode::UNAVAILABLE,
                                          std::string("DRAINING")));
  EXPECT_TRUE(calls_.WaitUntilIdle(std::chrono::steady_clock::now() +
                                   std::chrono::hours(1)));
  EXPECT_THAT(Open()->Finish(), FailsWith(grpc::StatusCode::UNAVAILABLE,
                                          std::string("DRAINING")));
}

TEST_F(StreamCallTest, AClientThatIsGoneGetsNothingMore) {
  const auto client = Open();
  client->Write("a");
  taken_.WaitFor(1);
  client->Cancel();
  EXPECT_EQ(client->Finish().error_code(), grpc::StatusCode::CANCELLED);
  while (!taken_.stream().cancelled()) std::this_thread::yield();
  Answer("of a");
  EXPECT_TRUE(calls_.WaitUntilIdle(std::chrono::steady_clock::now() +
                                   std::chrono::hours(1)));
  EXPECT_EQ(unread_.num_bytes(), 0);
}

// Smaller ones stay, also on the same connection.
TEST_F(StreamCallTest, OverTheLimitTheLargestResponsesAreCancelled) {
  const std::string large(3 << 20, 'x');
  const auto hog = Open();
  hog->Write("a");
  taken_.WaitFor(1);
  StreamCall& stream_of_hog = taken_.stream();
  const auto client = Open();
  client->Write("b");
  taken_.WaitFor(2);
  stream_of_hog.Answer(absl::OkStatus(), Bytes(large));
  EXPECT_EQ(calls_.CancelExcess(), 0);
  Answer(std::string(2 << 20, 'y'));
  EXPECT_THAT(calls_.CheckRoom(), IsOk());
  EXPECT_EQ(calls_.CancelExcess(), 1);
  EXPECT_EQ(Read(*hog), "none");
  EXPECT_FALSE(hog->Finish().ok());
  EXPECT_EQ(Read(*client).size(), 2u << 20);
  client->HalfClose();
  EXPECT_EQ(Read(*client), "none");
  EXPECT_THAT(client->Finish(), Succeeds());
}

TEST_F(StreamCallTest, AClientThatTakesTooLongIsCutOff) {
  const std::string large(1 << 20, 'x');
  const auto client = Open();
  client->Write("a");
  taken_.WaitFor(1);
  Answer(large);
  // It is a little more than a MiB, so it has twice the time.
  EXPECT_EQ(
      calls_.CancelOverdue(absl::Now() + 2 * kSendTimeout - absl::Seconds(5)),
      0);
  EXPECT_EQ(calls_.CancelOverdue(absl::Now() + 2 * kSendTimeout), 1);
  EXPECT_TRUE(calls_.WaitUntilIdle(std::chrono::steady_clock::now() +
                                   std::chrono::hours(1)));
  EXPECT_EQ(Read(*client), "none");
  EXPECT_FALSE(client->Finish().ok());
  EXPECT_EQ(unread_.num_bytes(), 0);
}

}  // namespace
}  // namespace semrank
