#include <cstring>
#include <thread>

#include "semrank/v1/embedding_service.grpc.pb.h"
#include "server/requests/request_run.h"
#include "tests/server/rpc/rpc_server_fixture.h"

namespace semrank {
namespace {

constexpr int kDim = 16;

class EmbeddingServiceTest : public RpcServerFixture {
 protected:
  static v1::EmbedTextsRequest Request(int num_texts, int first = 0) {
    v1::EmbedTextsRequest request;
    request.set_side(v1::SIDE_DOCUMENT);
    for (int i = 0; i < num_texts; ++i) {
      request.add_texts("text " + std::to_string(first + i));
    }
    return request;
  }
  grpc::Status Embed(const v1::EmbedTextsRequest& request) {
    context_ = std::make_unique<grpc::ClientContext>();
    response_.Clear();
    return stub_->EmbedTexts(context_.get(), request, &response_);
  }
  // Number `i` of a float32 response.
  float Value(int i) const {
    float value;
    std::memcpy(&value, response_.vectors().data() + i * sizeof(float),
                sizeof(float));
    return value;
  }

  std::unique_ptr<v1::EmbeddingService::Stub> stub_ =
      v1::EmbeddingService::NewStub(channel_);
  std::unique_ptr<grpc::ClientContext> context_;
  v1::EmbedTextsResponse response_;
};

// A call that runs in parallel to the test.
class BackgroundEmbed {
 public:
  BackgroundEmbed(v1::EmbeddingService::Stub& stub,
                  const v1::EmbedTextsRequest& request,
                  std::chrono::milliseconds timeout = std::chrono::hours(1))
      : request_(request) {
    context_.set_deadline(std::chrono::system_clock::now() + timeout);
    stub.async()->EmbedTexts(
        &context_, &request_, &response_,
        [this](const grpc::Status& status) { done_.set_value(status); });
  }
  grpc::Status Wait() { return done_.get_future().get(); }

 private:
  grpc::ClientContext context_;
  const v1::EmbedTextsRequest request_;
  v1::EmbedTextsResponse response_;
  std::promise<grpc::Status> done_;
};

TEST_F(EmbeddingServiceTest, Float32VectorsHaveLengthOneAndTheSecondTimeHit) {
  ASSERT_THAT(Embed(Request(3)), Succeeds());
  EXPECT_EQ(response_.embedding_dim(), 16u);
  EXPECT_EQ(response_.encoding(), v1::VECTOR_ENCODING_FLOAT32);
  ASSERT_EQ(response_.vectors().size(), 3 * kDim * sizeof(float));
  EXPECT_EQ(response_.cache_misses(), 3u);
  double length_squared = 0;
  for (int i = 0; i < kDim; ++i) length_squared += Value(i) * Value(i);
  EXPECT_NEAR(length_squared, 1, 1e-5);
  const std::string first = response_.vectors();
  ASSERT_THAT(Embed(Request(3)), Succeeds());
  EXPECT_EQ(response_.cache_hits(), 3u);
  EXPECT_EQ(response_.vectors(), first);
}

TEST_F(EmbeddingServiceTest, Float16AndInt8AreTheSameVectorsRounded) {
  v1::EmbedTextsRequest request = Request(2);
  ASSERT_THAT(Embed(request), Succeeds());
  std::vector<float> exact(2 * kDim);
  for (int i = 0; i < 2 * kDim; ++i) exact[i] = Value(i);

  request.set_encoding(v1::VECTOR_ENCODING_FLOAT16);
  ASSERT_THAT(Embed(request), Succeeds());
  EXPECT_EQ(response_.vectors().size(), 2 * kDim * 2u);

  request.set_encoding(v1::VECTOR_ENCODING_INT8);
  ASSERT_THAT(Embed(request), Succeeds());
  ASSERT_EQ(response_.scales_size(), 2);
  for (int i = 0; i < 2 * kDim; ++i) {
    const float scale = response_.scales(i / kDim);
    const auto byte = static_cast<signed char>(response_.vectors()[i]);
    EXPECT_NEAR(byte * scale, exact[i], scale * 0.501f);
  }
}

TEST_F(EmbeddingServiceTest, OneBadTextFailsTheCallAndIsNamed) {
  v1::EmbedTextsRequest request = Request(2);
  request.add_texts(std::string(101, 'x'));
  const grpc::Status status = Embed(request);
  EXPECT_THAT(status,
              FailsWith(grpc::StatusCode::INVALID_ARGUMENT, "TEXT_TOO_LONG"));
  EXPECT_EQ(ErrorInfoOf(status).metadata().at("field"), "texts[2]");
  EXPECT_THAT(CallRaw("EmbeddingService/EmbedTexts", "\x08\x01\x12\x01\xff"),
              FailsWith(grpc::StatusCode::INVALID_ARGUMENT, "INVALID_UTF8"));
}

TEST_F(EmbeddingServiceTest, SideMustBeSaid) {
  v1::EmbedTextsRequest request = Request(1);
  request.clear_side();
  EXPECT_THAT(Embed(request),
              FailsWith(grpc::StatusCode::INVALID_ARGUMENT, "INVALID_FIELD"));
}

TEST_F(EmbeddingServiceTest, OverloadIsRefusedAtOnceWithPushback) {
  gate_.Close();
  BackgroundEmbed running(*stub_, Request(3000));
  gate_.WaitForArrival();
  EXPECT_THAT(Embed(Request(2001)),
              FailsWith(grpc::StatusCode::RESOURCE_EXHAUSTED, "OVERLOADED"));
  const auto& trailers = context_->GetServerTrailingMetadata();
  const auto pushback = trailers.find("grpc-retry-pushback-ms");
  ASSERT_NE(pushback, trailers.end());
  EXPECT_EQ(pushback->second, "100");
  EXPECT_EQ(Rejected("OVERLOADED"), 1);
  gate_.Open();
  EXPECT_THAT(running.Wait(), Succeeds());
  EXPECT_THAT(Embed(Request(2001)), Succeeds());
}

TEST_F(EmbeddingServiceTest, AtTenTimesTheLimitEachCallIsAnsweredOrRefused) {
  const std::int64_t fit = kLimits.max_inflight_texts / kLarge;
  const std::int64_t count = 10 * fit;
  gate_.Close();
  std::vector<std::unique_ptr<BackgroundEmbed>> calls;
  for (std::int64_t i = 0; i < count; ++i) {
    calls.push_back(std::make_unique<BackgroundEmbed>(*stub_, Request(kLarge)));
  }
  // The calls that fit wait at the gate.
  while (Rejected("OVERLOADED") < count - fit) std::this_thread::yield();
  gate_.Open();
  std::int64_t num_answered = 0;
  for (const auto& call : calls) {
    const grpc::Status status = call->Wait();
    num_answered += status.ok();
    EXPECT_TRUE(status.ok() ||
                status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  }
  EXPECT_EQ(num_answered, fit);
  EXPECT_EQ(admission_.inflight_texts(), 0);
  EXPECT_THAT(Embed(Request(2001)), Succeeds());
}

TEST_F(EmbeddingServiceTest, LargeBatchesLeaveTheThreadsOfSmallCallsFree) {
  gate_.Close();
  std::vector<std::unique_ptr<BackgroundEmbed>> batches;
  for (int i = 0; i < 4; ++i) {
    batches.push_back(
        std::make_unique<BackgroundEmbed>(*stub_, Request(kLarge)));
  }
  gate_.WaitForArrival();
  v1::EmbedTextsRequest query = Request(1);
  query.set_side(v1::SIDE_QUERY);
  for (int i = 0; i < 10; ++i) EXPECT_THAT(Embed(query), Succeeds());
  gate_.Open();
  for (const auto& batch : batches) EXPECT_THAT(batch->Wait(), Succeeds());
}

TEST_F(EmbeddingServiceTest, WorkWhoseDeadlinePassedInTheQueueIsDropped) {
  const auto num_started = [&] {
    return Metric(
        "grpc_server_started_total{grpc_method=\"EmbedTexts\",grpc_service="
        "\"semrank.v1.EmbeddingService\",grpc_type=\"unary\"}");
  };
  gate_.Close();
  BackgroundEmbed running(*stub_, Request(kLarge));
  gate_.WaitForArrival();  // and so the only worker is busy
  BackgroundEmbed late(*stub_, Request(kLarge, 10'000),
                       std::chrono::milliseconds(50));
  while (num_started() < 2) std::this_thread::yield();
  // The server counts the 50 ms from the arrival of the request. When another
  // call, which begins later and lasts longer, has ended, they are over.
  BackgroundEmbed later(*stub_, Request(kLarge, 20'000),
                        std::chrono::milliseconds(100));
  EXPECT_EQ(later.Wait().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(late.Wait().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  gate_.Open();
  EXPECT_THAT(running.Wait(), Succeeds());
  server_->Stop(absl::Minutes(1));
  EXPECT_GE(Rejected("DEADLINE_EXCEEDED"), 1);
  EXPECT_LE(Metric("semrank_texts_embedded_total{side=\"document\"}"),
            2 * kLarge);
}

}  // namespace
}  // namespace semrank
