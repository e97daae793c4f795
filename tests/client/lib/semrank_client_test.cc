#include "client/lib/semrank_client.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/notification.h"
#include "client/lib/client_status.h"
#include "tests/client/lib/fake_server.h"
#include "tests/support/status_matchers.h"
#include "tests/support/tcp_listener.h"
#include "tests/support/tcp_proxy.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Long enough for any call that ends by itself.
constexpr absl::Duration kAmple = absl::Minutes(1);

class SemrankClientTest : public ::testing::Test {
 protected:
  static std::unique_ptr<SemrankClient> Connect(const std::string& address,
                                                absl::Duration deadline) {
    return SemrankClient::Create({address, deadline}).value();
  }

  v1::RankRequest Request() const {
    v1::RankRequest request;
    request.set_query("edit photos");
    request.add_titles("image editor");
    request.add_titles("mail reader");
    return request;
  }

  // Handlers may wait for it; so it outlives the server, which ends them.
  absl::Notification test_is_over_;
  FakeServer server_;
  std::unique_ptr<SemrankClient> client_ = Connect(server_.address(), kAmple);
};

TEST_F(SemrankClientTest, RankSendsTheRequestAndReturnsTheRanking) {
  ASSERT_OK_AND_ASSIGN(const v1::RankResponse response,
                       client_->Rank(Request()));
  EXPECT_THAT(server_.last_rank().titles(),
              ElementsAre("image editor", "mail reader"));
  EXPECT_THAT(response.scores(), ElementsAre(0.75f, 0.5f));
}

TEST_F(SemrankClientTest, RankStreamMatchesResponsesByRequestNumber) {
  std::vector<v1::RankRequest> requests(3, Request());
  requests[1].set_query("later");
  std::vector<std::size_t> numbers;
  EXPECT_THAT(
      client_->RankStream(
          requests,
          [&](std::size_t number, absl::StatusOr<v1::RankResponse> response) {
            numbers.push_back(number);
            EXPECT_THAT(response.value().scores(), ElementsAre(0.75f, 0.5f));
            return absl::OkStatus();
          }),
      IsOk());
  EXPECT_THAT(numbers, ElementsAre(0, 2, 1));
  EXPECT_EQ(server_.num_calls(), 1);
}

TEST_F(SemrankClientTest, ErrorOfTheCallbackEndsRankStream) {
  const std::vector<v1::RankRequest> requests(1'000, Request());
  int num_taken = 0;
  const auto take = [&](std::size_t, const absl::StatusOr<v1::RankResponse>&) {
    ++num_taken;
    return absl::CancelledError("enough");
  };
  EXPECT_THAT(client_->RankStream(requests, take),
              StatusIs(absl::StatusCode::kCancelled, "enough"));
  EXPECT_EQ(num_taken, 1);
}

TEST_F(SemrankClientTest, InvalidResponseOfRankStreamIsInternal) {
  server_.OnRank([](const v1::RankRequest& request, v1::RankResponse* out) {
    RankInOrder(request, out);
    out->set_indices(0, 7);
    return grpc::Status::OK;
  });
  const std::vector<v1::RankRequest> requests(1, Request());
  EXPECT_THAT(
      client_->RankStream(requests,
                          [](auto, auto) { return absl::OkStatus(); }),
      StatusIs(absl::StatusCode::kInternal, HasSubstr("invalid response")));
}

TEST_F(SemrankClientTest, RankStreamWithoutRequestsSendsNothing) {
  EXPECT_THAT(client_->RankStream({}, nullptr), IsOk());
  EXPECT_EQ(server_.num_calls(), 0);
}

TEST_F(SemrankClientTest, EmbedTextsReturnsTheVectors) {
  v1::EmbedTextsRequest request;
  request.set_side(v1::SIDE_QUERY);
  request.add_texts("a");
  ASSERT_OK_AND_ASSIGN(const v1::EmbedTextsResponse response,
                       client_->EmbedTexts(request));
  EXPECT_EQ(response.vectors().size(), 3 * sizeof(float));
  EXPECT_EQ(server_.last_embed().side(), v1::SIDE_QUERY);
}

TEST_F(SemrankClientTest, GetModelRequestsTheNamedModel) {
  server_.OnGetModel(
      [](const v1::GetModelRequest& request, v1::GetModelResponse* response) {
        response->mutable_model()->set_name(request.model().name());
        response->mutable_model()->set_version(request.model().version());
        return grpc::Status::OK;
      });
  v1::ModelRef ref;
  ref.set_name("shop");
  ref.set_version(7);
  ASSERT_OK_AND_ASSIGN(const v1::Model model, client_->GetModel(ref));
  EXPECT_EQ(model.name(), "shop");
  EXPECT_EQ(model.version(), 7);
}

TEST_F(SemrankClientTest, ReportEventsReturnsHowManyAreKept) {
  v1::ReportEventsRequest request;
  request.add_events()->set_impression_id("list");
  ASSERT_OK_AND_ASSIGN(const v1::ReportEventsResponse response,
                       client_->ReportEvents(request));
  EXPECT_EQ(response.accepted(), 1u);
}

TEST_F(SemrankClientTest, ARepeatedReportHasTheSameIds) {
  std::vector<v1::ReportEventsRequest> reports;
  server_.OnReportEvents(
      [&](const v1::ReportEventsRequest& request, v1::ReportEventsResponse*) {
        reports.push_back(request);
        return reports.size() == 1
                   ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "restarting")
                   : grpc::Status::OK;
      });
  v1::ReportEventsRequest request;
  request.add_events()->set_impression_id("list");
  request.add_events()->set_event_id("own");
  request.add_impressions()->set_query("shoe");
  ASSERT_THAT(client_->ReportEvents(request).status(), IsOk());
  ASSERT_EQ(reports.size(), 2u);
  for (const v1::ReportEventsRequest& report : reports) {
    EXPECT_EQ(report.events(0).event_id(), reports[0].events(0).event_id());
    EXPECT_EQ(report.events(0).event_id().size(), 22u);
    EXPECT_EQ(report.events(1).event_id(), "own");
    EXPECT_EQ(report.impressions(0).impression_id(),
              reports[0].impressions(0).impression_id());
    EXPECT_EQ(report.impressions(0).impression_id().size(), 22u);
  }
}

TEST_F(SemrankClientTest, HealthIsServingNotServingOrNotFound) {
  using grpc::health::v1::HealthCheckResponse;
  EXPECT_EQ(*client_->CheckHealth(""), HealthCheckResponse::SERVING);
  server_.SetServing("semrank.v1.RankingService", false);
  EXPECT_EQ(*client_->CheckHealth("semrank.v1.RankingService"),
            HealthCheckResponse::NOT_SERVING);
  EXPECT_THAT(client_->CheckHealth("unknown"),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(SemrankClientTest, FailedCallHasTheReasonOfTheServer) {
  server_.OnRank([](const v1::RankRequest&, v1::RankResponse*) {
    return ServerError(grpc::StatusCode::INVALID_ARGUMENT, "TOO_MANY_TEXTS",
                       "titles: 2 in one request, over the limit of 1");
  });
  const auto response = client_->Rank(Request());
  EXPECT_THAT(response,
              StatusIs(absl::StatusCode::kInvalidArgument,
                       server_.address() +
                           ": titles: 2 in one request, over the limit of 1"));
  EXPECT_EQ(GetErrorInfo(response.status())->reason(), "TOO_MANY_TEXTS");
}

TEST_F(SemrankClientTest, InvalidResponseIsInternal) {
  server_.OnRank([](const v1::RankRequest&, v1::RankResponse* response) {
    response->add_indices(99);
    response->add_scores(1);
    return grpc::Status::OK;
  });
  EXPECT_THAT(client_->Rank(Request()),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("a candidate number is 99")));
}

TEST_F(SemrankClientTest, ResponsesMayExceedGrpcsDefaultLimit) {
  server_.OnRank([](const v1::RankRequest&, v1::RankResponse* response) {
    response->mutable_model()->set_name(std::string(5 << 20, 'x'));
    return grpc::Status::OK;
  });
  EXPECT_THAT(client_->Rank(Request()), IsOk());
}

TEST_F(SemrankClientTest, UnreachableServerIsUnavailableAndNamed) {
  server_.Stop();
  EXPECT_THAT(client_->Rank(Request()),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("cannot reach " + server_.address())));
}

TEST_F(SemrankClientTest, OnlyAServerThatRefusesPlainTextSuggestsTls) {
  const auto rank_once = [this](const std::string& address) {
    return SemrankClient::Create(
               {.address = address, .retry = {.max_attempts = 1}})
        .value()
        ->Rank(Request())
        .status();
  };
  TcpListener refusing;
  std::thread server([&] {
    char bytes[4'096];
    const int client = refusing.Accept();
    EXPECT_GT(read(client, bytes, sizeof(bytes)), 0);
    // Reads the rest, since to close with unread bytes is a reset.
    shutdown(client, SHUT_WR);
    while (read(client, bytes, sizeof(bytes)) > 0) {
    }
    close(client);
  });
  EXPECT_THAT(rank_once(refusing.address()),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("with TLS")));
  server.join();
  // The proxy dies in the middle of the call, and the connection with it.
  int port = 0;
  ASSERT_TRUE(absl::SimpleAtoi(
      server_.address().substr(server_.address().rfind(':') + 1), &port));
  auto proxy = std::make_unique<TcpProxy>(port);
  const std::string address = absl::StrFormat("127.0.0.1:%d", proxy->port());
  server_.OnRank([&proxy](const v1::RankRequest&, v1::RankResponse*) {
    proxy.reset();
    return grpc::Status::OK;
  });
  EXPECT_THAT(rank_once(address), StatusIs(absl::StatusCode::kUnavailable,
                                           AllOf(HasSubstr("Socket closed"),
                                                 Not(HasSubstr("TLS")))));
}

TEST_F(SemrankClientTest, SlowResponseFailsAtTheDeadline) {
  server_.OnRank([this](const v1::RankRequest&, v1::RankResponse*) {
    test_is_over_.WaitForNotification();
    return grpc::Status::OK;
  });
  const auto client =
      Connect(server_.address(), /*deadline=*/absl::Milliseconds(500));
  ASSERT_THAT(client->CheckHealth(""), IsOk());  // so that it is connected
  EXPECT_THAT(client->Rank(Request()),
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       server_.address() +
                           ": no answer before the deadline (500ms; in a "
                           "stream, for each 1,000 items)"));
  test_is_over_.Notify();
}

TEST_F(SemrankClientTest, AnInterruptEndsAStreamWhoseServerHangs) {
  std::atomic<bool> interrupted = false;
  ClientOptions options{server_.address(), kAmple};
  options.interrupted = [&] { return interrupted.load(); };
  ASSERT_OK_AND_ASSIGN(const auto client, SemrankClient::Create(options));
  v1::EmbedTextsRequest request;
  for (int i = 0; i < 1'000; ++i) request.add_texts("x");
  request.add_texts("hang");  // alone in the second message
  EXPECT_THAT(client->EmbedTextsStream(request,
                                       [&](const auto&) {
                                         interrupted = true;
                                         return absl::OkStatus();
                                       }),
              StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(SemrankClientTest, AnInterruptEndsACall) {
  std::atomic<bool> interrupted = false;
  ClientOptions options{server_.address(), kAmple};
  options.interrupted = [&] { return interrupted.load(); };
  ASSERT_OK_AND_ASSIGN(const auto client, SemrankClient::Create(options));
  server_.OnRank([&](const auto&, auto*) {
    interrupted = true;
    test_is_over_.WaitForNotification();
    return grpc::Status::OK;
  });
  EXPECT_THAT(client->Rank(Request()), StatusIs(absl::StatusCode::kCancelled));
  test_is_over_.Notify();
}

TEST_F(SemrankClientTest, AnInterruptEndsTheWaitForARetry) {
  ClientOptions options{server_.address(), kAmple};
  options.interrupted = [&] { return server_.num_calls() > 0; };
  options.deadline = absl::InfiniteDuration();
  ASSERT_OK_AND_ASSIGN(const auto client, SemrankClient::Create(options));
  server_.RejectNext(1, "3600000");
  EXPECT_FALSE(client->Rank(Request()).ok());
  EXPECT_EQ(server_.num_calls(), 1);
}

class LargeRequestTest : public SemrankClientTest {
 protected:
  static v1::Limits MaxBytes(std::uint64_t max_bytes) {
    v1::Limits limits;
    limits.set_max_texts_per_request(1'000);
    limits.set_max_request_bytes(max_bytes);
    return limits;
  }
  // A request of about 10,000 bytes.
  static v1::EmbedTextsRequest EmbedRequest() {
    v1::EmbedTextsRequest request;
    request.set_side(v1::SIDE_DOCUMENT);
    for (int i = 0; i < 100; ++i) request.add_texts(std::string(100, 'x'));
    return request;
  }
  // How many texts the stream embeds.
  std::uint64_t EmbedOverAStream() {
    std::uint64_t num_texts = 0;
    EXPECT_THAT(client_->EmbedTextsStream(EmbedRequest(),
                                          [&](const auto& chunk) {
                                            num_texts += chunk.num_texts();
                                            return absl::OkStatus();
                                          }),
                IsOk());
    return num_texts;
  }
};

TEST_F(LargeRequestTest, LargeRequestFetchesLimitsOnceAndIsSplit) {
  server_.SetLimits(MaxBytes(3'000));
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK_AND_ASSIGN(const v1::EmbedTextsResponse response,
                         client_->EmbedTexts(EmbedRequest()));
    EXPECT_EQ(response.vectors().size(), 100 * 3 * sizeof(float));
    EXPECT_EQ(server_.num_get_limits(), 1);
  }
}

// Its number counts in the part of the request that the note names.
TEST_F(LargeRequestTest, OneBadTextOfManyFailsTheCall) {
  v1::EmbedTextsRequest request;
  for (int i = 0; i < 1'500; ++i) request.add_texts("x");
  request.set_texts(1'200, "bad");
  EXPECT_THAT(client_->EmbedTexts(request),
              StatusIs(absl::StatusCode::kUnknown,
                       server_.address() + ": why (counted from number 1000)"));
}

TEST_F(LargeRequestTest, MessageRejectedByGrpcIsSplit) {
  server_.SetLimits(MaxBytes(3'000));
  int num_refused = 0;
  server_.OnRank([&](const v1::RankRequest& request, v1::RankResponse* out) {
    if (request.ByteSizeLong() <= 3'000) return RankInOrder(request, out);
    ++num_refused;
    return grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED,
                        "Received message larger than max (10000 vs. 3000)");
  });
  v1::RankRequest request = Request();
  for (int i = 0; i < 100; ++i) request.add_titles(std::string(100, 'x'));
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK_AND_ASSIGN(const v1::RankResponse response,
                         client_->Rank(request));
    EXPECT_EQ(response.indices_size(), 102);
  }
  EXPECT_EQ(num_refused, 1);
}

// Each part would be an impression of its own.
TEST_F(LargeRequestTest, AnImpressionIsNotSplit) {
  server_.SetLimits(MaxBytes(3'000));
  v1::RankRequest request = Request();
  request.mutable_impression();
  EXPECT_THAT(client_->Rank(request), IsOk());
  for (int i = 0; i < 2'000; ++i) request.add_titles("x");
  EXPECT_THAT(
      client_->Rank(request),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("one list")));
}

// More candidates than the client assumes that a server takes, and no more than
// this one does.
TEST_F(LargeRequestTest, TheOrderOfOneAnswerStays) {
  server_.OnRank([](const v1::RankRequest&, v1::RankResponse* response) {
    for (const float score : {.1f, .9f}) {
      response->add_indices(score > .5f ? 1 : 0);
      response->add_scores(score);
    }
    return grpc::Status::OK;
  });
  v1::Limits limits;
  limits.set_max_texts_per_request(10'000);
  limits.set_max_request_bytes(4 << 20);
  server_.SetLimits(limits);
  v1::RankRequest request = Request();
  request.mutable_impression();
  for (int i = 0; i < 2'000; ++i) request.add_titles("x");
  ASSERT_OK_AND_ASSIGN(const v1::RankResponse response, client_->Rank(request));
  EXPECT_THAT(response.indices(), ElementsAre(0, 1));
}

TEST_F(LargeRequestTest, LowerLimitsOfTheServerAreFetchedAgain) {
  ASSERT_EQ(EmbedOverAStream(), 100u);
  server_.SetLimits(MaxBytes(3'000));
  EXPECT_EQ(EmbedOverAStream(), 100u);
  server_.SetLimits(MaxBytes(1'500));
  EXPECT_THAT(client_->EmbedTexts(EmbedRequest()), IsOk());
  EXPECT_EQ(server_.num_get_limits(), 3);
}

// Such as a quota of a proxy.
TEST_F(LargeRequestTest, OtherRejectionsAreNotRetried) {
  int num_calls = 0;
  server_.OnRank([&](const v1::RankRequest&, v1::RankResponse*) {
    ++num_calls;
    return grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "quota");
  });
  EXPECT_THAT(client_->Rank(Request()),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       server_.address() + ": quota"));
  EXPECT_EQ(num_calls, 1);
}

TEST(SemrankClientConnectTest, SilentPortFailsAtTheDeadline) {
  // Connections wait in the listener's queue; no one accepts them.
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in name = {};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&name), sizeof(name)),
            0);
  ASSERT_EQ(listen(listener, 1), 0);
  socklen_t size = sizeof(name);
  getsockname(listener, reinterpret_cast<sockaddr*>(&name), &size);
  const std::string address =
      absl::StrFormat("127.0.0.1:%d", ntohs(name.sin_port));

  const auto client =
      SemrankClient::Create({address, absl::Milliseconds(50)}).value();
  EXPECT_THAT(client->CheckHealth(""),
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       HasSubstr(address +
                                 ": no connection before the deadline (50ms")));
  close(listener);
}

TEST(SemrankClientOptionsTest, BadOptionsAreRefused) {
  EXPECT_THAT(
      SemrankClient::Create({.address = "nowhere"}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'nowhere'")));
  EXPECT_THAT(SemrankClient::Create({.deadline = absl::ZeroDuration()}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("deadline"), HasSubstr("positive"))));
}

}  // namespace
}  // namespace semrank
