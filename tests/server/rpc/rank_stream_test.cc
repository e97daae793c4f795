#include <set>

#include "semrank/v1/ranking_service.grpc.pb.h"
#include "server/ranking/shadow_ranker.h"
#include "server/requests/request_run.h"
#include "tests/server/rpc/raw_stream.h"
#include "tests/server/rpc/rpc_server_fixture.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

// More than gRPC's own threads take on.

class RankStreamTest : public RpcServerFixture {
 protected:
  static v1::RankStreamRequest Request(std::uint64_t number, int num_titles,
                                       const std::string& query = "q") {
    v1::RankStreamRequest request;
    request.set_request_number(number);
    request.mutable_request()->set_query(query);
    for (int i = 0; i < num_titles; ++i) {
      request.mutable_request()->add_titles(std::to_string(number) + " title " +
                                            std::to_string(i));
    }
    return request;
  }
  // A Rank of it runs no document tower.
  static v1::RankStreamRequest OneVector(std::uint64_t number) {
    v1::RankStreamRequest request = Request(number, 0);
    request.mutable_request()->set_vectors(
        std::string(16 * sizeof(float), '\0'));
    return request;
  }
  bool Write(const v1::RankStreamRequest& request) {
    return stream_->Write(request);
  }
  v1::RankStreamResponse Read() {
    v1::RankStreamResponse response;
    EXPECT_TRUE(stream_->Read(&response));
    return response;
  }
  // After the last answer.
  grpc::Status Finish() {
    v1::RankStreamResponse unexpected;
    EXPECT_FALSE(stream_->Read(&unexpected));
    return stream_->Finish();
  }
  double Messages(const std::string& direction) const {
    return Metric("grpc_server_msg_" + direction +
                  "_total{grpc_method=\"RankStream\",grpc_service=\"semrank.v1."
                  "RankingService\",grpc_type=\"bidi_stream\"}");
  }
  double Answered(const std::string& code) const {
    return Metric("semrank_stream_requests_total{grpc_code=\"" + code +
                  "\",grpc_method=\"RankStream\",grpc_service=\"semrank.v1."
                  "RankingService\"}");
  }

  // Serves with what the test has set since.
  void Restart() {
    context_.TryCancel();
    v1::RankStreamResponse response;
    while (stream_->Read(&response)) {
    }
    stream_->Finish();
    server_ = StartServer("127.0.0.1:0").value();
    channel_ = NewChannel();
    stub_ = v1::RankingService::NewStub(channel_);
    stream_ = stub_->RankStream(&other_context_);
  }

  std::unique_ptr<v1::RankingService::Stub> stub_ =
      v1::RankingService::NewStub(channel_);
  grpc::ClientContext context_, other_context_;
  std::unique_ptr<
      grpc::ClientReaderWriter<v1::RankStreamRequest, v1::RankStreamResponse>>
      stream_ = stub_->RankStream(&context_);
};

TEST_F(RankStreamTest, AnswersWhatRankAnswersWithTheRequestsNumber) {
  const v1::RankStreamRequest request = Request(7, 5);
  grpc::ClientContext context;
  v1::RankResponse alone;
  ASSERT_THAT(stub_->Rank(&context, request.request(), &alone), Succeeds());
  ASSERT_TRUE(Write(request));
  const v1::RankStreamResponse response = Read();
  EXPECT_EQ(response.request_number(), 7u);
  EXPECT_TRUE(
      std::ranges::equal(response.response().indices(), alone.indices()));
  EXPECT_TRUE(std::ranges::equal(response.response().scores(), alone.scores()));
  stream_->WritesDone();
  EXPECT_THAT(Finish(), Succeeds());
}

TEST_F(RankStreamTest, HalfCloseAnswersEveryRequestOnceAndEndsWithOk) {
  constexpr int kRequests = 500;
  for (int i = 0; i < kRequests; ++i) ASSERT_TRUE(Write(Request(i, 3)));
  stream_->WritesDone();
  std::set<std::uint64_t> numbers;
  v1::RankStreamResponse response;
  while (stream_->Read(&response)) {
    EXPECT_EQ(response.response().indices_size(), 3);
    EXPECT_TRUE(numbers.insert(response.request_number()).second);
  }
  EXPECT_EQ(numbers.size(), kRequests);
  EXPECT_THAT(stream_->Finish(), Succeeds());
  EXPECT_EQ(Messages("received"), kRequests);
  EXPECT_EQ(Messages("sent"), kRequests);
  EXPECT_EQ(Answered("OK"), kRequests);
  EXPECT_EQ(Handled("RankingService", "RankStream", "OK", "bidi_stream"), 1);
}

TEST_F(RankStreamTest, AnEmptyStreamEndsWithOk) {
  stream_->WritesDone();
  EXPECT_THAT(Finish(), Succeeds());
}

TEST_F(RankStreamTest, AFailedRequestIsAnsweredAndTheStreamGoesOn) {
  ASSERT_TRUE(Write(Request(1, 3, "")));
  v1::RankStreamResponse response = Read();
  EXPECT_EQ(response.request_number(), 1u);
  EXPECT_EQ(response.status().code(), kInvalid);
  EXPECT_EQ(ErrorInfoOf(response.status()).reason(), "EMPTY_QUERY");

  v1::RankStreamRequest without_request;
  without_request.set_request_number(2);
  ASSERT_TRUE(Write(without_request));
  response = Read();
  EXPECT_EQ(response.request_number(), 2u);
  EXPECT_EQ(ErrorInfoOf(response.status()).reason(), "INVALID_FIELD");

  ASSERT_TRUE(Write(Request(3, 3)));
  EXPECT_EQ(Read().response().indices_size(), 3);
  stream_->WritesDone();
  EXPECT_THAT(Finish(), Succeeds());
  EXPECT_EQ(Answered("InvalidArgument"), 2);
}

TEST_F(RankStreamTest, OneRequestOverTheAdmissionLimitIsRefusedAlone) {
  gate_.Close();
  ASSERT_TRUE(Write(Request(1, 3'000)));
  gate_.WaitForArrival();
  ASSERT_TRUE(Write(Request(2, 2'500)));
  const v1::RankStreamResponse refused = Read();
  EXPECT_EQ(refused.request_number(), 2u);
  EXPECT_EQ(refused.status().code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(ErrorInfoOf(refused.status()).reason(), "OVERLOADED");
  google::rpc::RetryInfo retry;
  EXPECT_TRUE(refused.status().details(1).UnpackTo(&retry));
  gate_.Open();
  EXPECT_EQ(Read().request_number(), 1u);
  stream_->WritesDone();
  EXPECT_THAT(Finish(), Succeeds());
  EXPECT_EQ(Rejected("OVERLOADED"), 1);
}

TEST_F(RankStreamTest, WithoutRoomForATextARequestIsRefusedByItsNumberAlone) {
  {
    ASSERT_OK_AND_ASSIGN(const auto permit,
                         admission_.Admit(kLimits.max_inflight_texts));
    ASSERT_TRUE(Write(Request(7, 2)));
    const v1::RankStreamResponse refused = Read();
    EXPECT_EQ(refused.request_number(), 7u);
    EXPECT_EQ(ErrorInfoOf(refused.status()).reason(), "OVERLOADED");
  }
  ASSERT_TRUE(Write(Request(8, 2)));
  EXPECT_EQ(Read().response().indices_size(), 2);
}

TEST_F(RankStreamTest, ASmallRequestOvertakesALargeOne) {
  gate_.Close();
  ASSERT_TRUE(Write(Request(1, kLarge)));
  gate_.WaitForArrival();
  ASSERT_TRUE(Write(OneVector(2)));
  EXPECT_EQ(Read().request_number(), 2u);
  gate_.Open();
  EXPECT_EQ(Read().request_number(), 1u);
  stream_->WritesDone();
  EXPECT_THAT(Finish(), Succeeds());
}

TEST_F(RankStreamTest, NoMoreIsReadThanTheRequestsThatMayBeInWork) {
  gate_.Close();
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(Write(Request(i, kLarge)));
  gate_.WaitForArrival();
  while (Messages("received") < kLimits.max_requests_per_stream) {
  }
  // A whole call on the same connection, behind the messages.
  grpc::ClientContext context;
  v1::RankResponse response;
  EXPECT_THAT(stub_->Rank(&context, OneVector(0).request(), &response),
              Succeeds());
  EXPECT_EQ(Messages("received"), kLimits.max_requests_per_stream);
  gate_.Open();
  stream_->WritesDone();
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(Read().has_response());
  EXPECT_THAT(Finish(), Succeeds());
}

TEST_F(RankStreamTest, BytesThatAreNoMessageEndTheStream) {
  for (const char* bytes : {"\xff", "\x12\x7f"}) {
    RawStream raw(channel_, "RankingService/RankStream");
    ASSERT_TRUE(raw.Write(Request(1, 2).SerializeAsString()));
    std::string answer;
    ASSERT_TRUE(raw.Read(answer));
    ASSERT_TRUE(raw.Write(bytes));
    EXPECT_FALSE(raw.Read(answer));
    EXPECT_THAT(raw.Finish(), FailsWith(kInvalid, "MALFORMED_MESSAGE"));
  }
  EXPECT_EQ(
      Handled("RankingService", "RankStream", "InvalidArgument", "bidi_stream"),
      2);
}

// What was read while the bad message was looked at is still run, as requests
// in flight are.
TEST_F(RankStreamTest, ABadMessageEndsTheStreamWhateverComesBehindIt) {
  gate_.Close();
  RawStream raw(channel_, "RankingService/RankStream");
  ASSERT_TRUE(raw.Write("\xff"));
  const std::string large = Request(1, kLarge).SerializeAsString();
  for (int i = 0; i < 5 && raw.Write(large); ++i) {
  }
  while (Rejected("MALFORMED_MESSAGE") == 0) {
  }
  EXPECT_LE(Messages("received"), kLimits.max_requests_per_stream);
  gate_.Open();
  std::string answer;
  while (raw.Read(answer)) {
  }
  EXPECT_THAT(raw.Finish(), FailsWith(kInvalid, "MALFORMED_MESSAGE"));
  EXPECT_EQ(admission_.inflight_texts(), 0);
  EXPECT_TRUE(server_->Stop(absl::Minutes(5)));
}

TEST_F(RankStreamTest, ARequestThatIsNotUtf8IsAnsweredByItsNumber) {
  RawStream raw(channel_, "RankingService/RankStream");
  for (const auto& [message, field] :
       {std::pair("\x08\x05\x12\x06\x0a\x01\xff\x12\x01t", "query"),
        std::pair("\x08\x05\x12\x07\x0a\x01q\x22\x02\xff\xfe",
                  "document_ids[0]"),
        std::pair("\x08\x05\x12\x0b\x0a\x01q\x12\x01t\x42\x03\x0a\x01\xff",
                  "model.name")}) {
    ASSERT_TRUE(raw.Write(message));
    std::string bytes;
    ASSERT_TRUE(raw.Read(bytes));
    v1::RankStreamResponse response;
    ASSERT_TRUE(response.ParseFromString(bytes));
    EXPECT_EQ(response.request_number(), 5u);
    const google::rpc::ErrorInfo info = ErrorInfoOf(response.status());
    EXPECT_EQ(info.reason(), "INVALID_UTF8");
    EXPECT_EQ(info.metadata().at("field"), field);
  }
}

TEST_F(RankStreamTest, CancellingDropsWhatIsQueued) {
  gate_.Close();
  ASSERT_TRUE(Write(Request(1, kLarge)));
  gate_.WaitForArrival();  // and so the only worker is busy
  ASSERT_TRUE(Write(Request(2, kLarge)));
  while (Messages("received") < 2) {
  }
  context_.TryCancel();
  EXPECT_EQ(Finish().error_code(), grpc::StatusCode::CANCELLED);
  // Behind the cancellation on the same connection: the server has read that.
  for (int i = 0; i < 20; ++i) {
    grpc::ClientContext context;
    v1::RankResponse response;
    ASSERT_THAT(stub_->Rank(&context, OneVector(3).request(), &response),
                Succeeds());
  }
  gate_.Open();
  server_->Stop(absl::Minutes(1));
  EXPECT_GE(Rejected("CANCELLED"), 1);
  EXPECT_LE(Metric("semrank_texts_embedded_total{side=\"document\"}"), kLarge);
  EXPECT_EQ(admission_.inflight_texts(), 0);
  EXPECT_EQ(Handled("RankingService", "RankStream", "Canceled", "bidi_stream"),
            1);
}

TEST_F(RankStreamTest, StopAnswersWhatWasReadAndSaysThatItDrains) {
  gate_.Close();
  ASSERT_TRUE(Write(Request(1, 3)));
  gate_.WaitForArrival();
  lifecycle_.Advance(Lifecycle::State::kStopping);
  auto stopped = std::async(std::launch::async,
                            [&] { return server_->Stop(absl::Minutes(5)); });
  gate_.Open();
  EXPECT_EQ(Read().response().indices_size(), 3);
  EXPECT_THAT(Finish(), FailsWith(grpc::StatusCode::UNAVAILABLE, "DRAINING"));
  EXPECT_TRUE(stopped.get());
}

TEST_F(RankStreamTest, AStreamThatComesWhileStoppingIsRefused) {
  // An answer shows that the first stream has begun; otherwise it might be
  // refused, too.
  ASSERT_TRUE(Write(Request(1, 2)));
  Read();
  lifecycle_.Advance(Lifecycle::State::kStopping);
  grpc::ClientContext context;
  EXPECT_THAT(stub_->RankStream(&context)->Finish(),
              FailsWith(grpc::StatusCode::UNAVAILABLE, "DRAINING"));
  EXPECT_EQ(Rejected("DRAINING"), 1);
}

TEST_F(RankStreamTest, TheLogNamesTheModelOfEachRequest) {
  std::vector<std::string> models;
  RequestLog log({.access_share = 1}, [&](auto, const auto& outcome, auto) {
    models.push_back(outcome.details().model);
  });
  own_log_ = &log;
  Restart();
  ASSERT_TRUE(Write(Request(1, 2)));
  Read();
  EXPECT_THAT(models, ::testing::ElementsAre("tiny/1"));
  ASSERT_TRUE(Write(Request(2, 0)));
  EXPECT_TRUE(Read().has_status());
  EXPECT_THAT(models, ::testing::ElementsAre("tiny/1", ""));
  stream_->WritesDone();
  EXPECT_THAT(Finish(), Succeeds());
  server_.reset();  // It uses `log`.
}

// A server that stops waits for answers, not for what comes after them.
TEST_F(RankStreamTest, AnAnsweredRequestIsQueuedForTheShadowModel) {
  ShadowRanker shadow(
      {.model = "none", .processor_time = [] { return absl::ZeroDuration(); }},
      kLimits, &models_, nullptr, &metrics_);
  shadow_ = &shadow;
  Restart();
  for (int i = 1; i <= 50; ++i) {
    ASSERT_TRUE(Write(Request(i, 2)));
    Read();
    shadow.WaitUntilIdle();
    ASSERT_EQ(shadow.GetStats().num_failed, 2 * i - 1);
    grpc::ClientContext context;
    v1::RankResponse response;
    ASSERT_THAT(stub_->Rank(&context, Request(i, 2).request(), &response),
                Succeeds());
    shadow.WaitUntilIdle();
    ASSERT_EQ(shadow.GetStats().num_failed, 2 * i);
  }
  stream_->WritesDone();
  EXPECT_THAT(Finish(), Succeeds());
  server_.reset();  // It uses `shadow`.
}

}  // namespace
}  // namespace semrank
