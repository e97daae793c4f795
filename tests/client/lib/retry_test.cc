#include "client/lib/retry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "client/lib/client_status.h"
#include "client/lib/semrank_client.h"
#include "tests/client/lib/fake_server.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::grpc::StatusCode;
using ::testing::HasSubstr;

const absl::Time kNow = absl::UnixEpoch();
const absl::Time kLate = kNow + absl::Hours(1);

MATCHER_P2(IsWithin, low_ms, high_ms, "") {
  return arg.has_value() && *arg >= absl::Milliseconds(low_ms) &&
         *arg <= absl::Milliseconds(high_ms);
}

TEST(RetryTest, DelayIsThePushbackPlusUpTo20Percent) {
  for (int i = 0; i < 100; ++i) {
    Retry retry({}, kLate);
    EXPECT_THAT(retry.NextDelay(StatusCode::RESOURCE_EXHAUSTED, "300", kNow),
                IsWithin(300, 360));
  }
}

TEST(RetryTest, NegativeOrMalformedPushbackForbidsRetries) {
  for (const char* pushback : {"-1", "", "soon", "1.5"}) {
    for (const StatusCode code :
         {StatusCode::RESOURCE_EXHAUSTED, StatusCode::UNAVAILABLE}) {
      Retry retry({}, kLate);
      EXPECT_EQ(retry.NextDelay(code, pushback, kNow), std::nullopt)
          << pushback;
    }
  }
}

TEST(RetryTest, OnlyUnavailableIsRetriedWithoutPushback) {
  for (int code = 1; code <= StatusCode::UNAUTHENTICATED; ++code) {
    Retry retry({}, kLate);
    EXPECT_EQ(retry.NextDelay(static_cast<StatusCode>(code), std::nullopt, kNow)
                  .has_value(),
              code == StatusCode::UNAVAILABLE)
        << code;
  }
}

TEST(RetryTest, BackoffDoublesUpToItsLimitWithJitter) {
  for (int i = 0; i < 100; ++i) {
    Retry retry({.max_attempts = 6,
                 .initial_backoff = absl::Milliseconds(100),
                 .max_backoff = absl::Milliseconds(300)},
                kLate);
    for (const int longest : {100, 200, 300, 300}) {
      EXPECT_THAT(retry.NextDelay(StatusCode::UNAVAILABLE, std::nullopt, kNow),
                  IsWithin(longest / 2, longest));
    }
  }
}

TEST(RetryTest, AttemptsAreLimitedUntilProgress) {
  Retry retry({.max_attempts = 2}, kLate);
  const auto may_repeat = [&retry] {
    return retry.NextDelay(StatusCode::UNAVAILABLE, std::nullopt, kNow)
        .has_value();
  };
  EXPECT_TRUE(may_repeat());
  EXPECT_FALSE(may_repeat());
  EXPECT_EQ(retry.num_attempts(), 2);
  retry.Restart();
  EXPECT_TRUE(may_repeat());
}

TEST(RetryTest, NoDelayPassesTheDeadline) {
  Retry retry({}, kNow + absl::Milliseconds(200));
  EXPECT_THAT(retry.NextDelay(StatusCode::UNAVAILABLE, "100", kNow),
              IsWithin(100, 120));
  EXPECT_EQ(retry.NextDelay(StatusCode::UNAVAILABLE, "100",
                            kNow + absl::Milliseconds(101)),
            std::nullopt);
}

class RetriedCallTest : public ::testing::Test {
 protected:
  absl::StatusOr<v1::RankResponse> Rank() {
    v1::RankRequest request;
    request.set_query("edit photos");
    request.add_titles("image editor");
    return client_->Rank(request);
  }

  FakeServer server_;
  std::unique_ptr<SemrankClient> client_ =
      SemrankClient::Create({.address = server_.address()}).value();
};

TEST_F(RetriedCallTest, RejectedCallIsRetried) {
  server_.RejectNext(2, "1");
  EXPECT_THAT(Rank(), IsOk());
  EXPECT_EQ(server_.num_calls(), 3);
}

TEST_F(RetriedCallTest, NegativePushbackIsNotRetried) {
  server_.RejectNext(1, "-1");
  const auto response = Rank();
  EXPECT_THAT(response,
              StatusIs(absl::StatusCode::kResourceExhausted,
                       server_.address() + ": too many texts in flight"));
  EXPECT_EQ(server_.num_calls(), 1);
}

TEST_F(RetriedCallTest, LastFailureHasItsReasonAndNumberOfAttempts) {
  server_.RejectNext(100, "1");
  const auto response = Rank();
  EXPECT_THAT(response, StatusIs(absl::StatusCode::kResourceExhausted,
                                 HasSubstr("in flight (tried 4 times)")));
  EXPECT_TRUE(HasReason(response.status(), "OVERLOADED"));
  EXPECT_EQ(server_.num_calls(), 4);
}

TEST_F(RetriedCallTest, PushbackBeyondTheDeadlineFailsImmediately) {
  server_.RejectNext(1, "3600000");
  EXPECT_THAT(Rank(), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(server_.num_calls(), 1);
}

TEST_F(RetriedCallTest, UnreachableServerIsRetriedForRankButNotForHealth) {
  server_.Stop();
  EXPECT_THAT(Rank(), StatusIs(absl::StatusCode::kUnavailable,
                               HasSubstr("(tried 4 times)")));
  EXPECT_THAT(client_->CheckHealth(""),
              StatusIs(absl::StatusCode::kUnavailable,
                       ::testing::Not(HasSubstr("tried"))));
}

// The fake answers one message of each refused stream. More refusals than
// attempts, because each stream comes further.
TEST_F(RetriedCallTest, BrokenEmbedStreamContinuesAfterItsLastResponse) {
  server_.RejectNext(5, "1");
  v1::EmbedTextsRequest request;
  request.set_side(v1::SIDE_DOCUMENT);
  for (int i = 0; i < 7'500; ++i) request.add_texts("a");
  std::uint64_t num_answered = 0;
  EXPECT_THAT(
      client_->EmbedTextsStream(request,
                                [&](const v1::EmbedTextsStreamResponse& chunk) {
                                  EXPECT_EQ(chunk.first_text(), num_answered);
                                  num_answered += chunk.num_texts();
                                  return absl::OkStatus();
                                }),
      IsOk());
  EXPECT_EQ(num_answered, 7'500);
  EXPECT_EQ(server_.num_calls(), 6);
}

class RetriedRankStreamTest : public RetriedCallTest {
 protected:
  // Ranks the queries "0", "1", ...
  absl::Status RankMany(int num_queries) {
    std::vector<v1::RankRequest> requests(num_queries);
    for (int i = 0; i < num_queries; ++i) {
      requests[i].set_query(std::to_string(i));
      requests[i].add_titles("image editor");
    }
    return client_->RankStream(
        requests, [&](std::size_t number, const auto& response) {
          EXPECT_TRUE(answers_.emplace(number, response.status()).second);
          return absl::OkStatus();
        });
  }
  // As the server refuses one request of a stream.
  static grpc::Status Overloaded() {
    google::rpc::RetryInfo retry;
    retry.mutable_retry_delay()->set_nanos(1'000'000);
    google::rpc::Status status;
    status.set_code(StatusCode::RESOURCE_EXHAUSTED);
    status.set_message("too many texts in flight");
    status.add_details()->PackFrom(retry);
    return grpc::Status(StatusCode::RESOURCE_EXHAUSTED, "",
                        status.SerializeAsString());
  }

  std::map<std::size_t, absl::Status> answers_;
};

// The fake answers one request of each refused stream. More refusals than
// attempts, because each stream comes further.
TEST_F(RetriedRankStreamTest, BrokenStreamRetriesOnlyPendingRequests) {
  server_.RejectNext(5, "1");
  EXPECT_THAT(RankMany(20), IsOk());
  EXPECT_EQ(answers_.size(), 20u);
  EXPECT_EQ(server_.num_calls(), 6);
}

TEST_F(RetriedRankStreamTest, RejectedRequestIsRetried) {
  std::atomic<int> num_refused = 0;
  server_.OnRank([&](const v1::RankRequest& request, v1::RankResponse* out) {
    const bool refuse = request.query() == "3" && ++num_refused <= 2;
    return refuse ? Overloaded() : RankInOrder(request, out);
  });
  EXPECT_THAT(RankMany(5), IsOk());
  EXPECT_EQ(answers_.size(), 5u);
  EXPECT_THAT(answers_[3], IsOk());
  EXPECT_EQ(server_.num_calls(), 3);
}

TEST_F(RetriedRankStreamTest, AlwaysRejectedRequestGetsItsRejection) {
  server_.OnRank([&](const v1::RankRequest& request, v1::RankResponse* out) {
    return request.query() == "1" ? Overloaded() : RankInOrder(request, out);
  });
  EXPECT_THAT(RankMany(3), IsOk());
  EXPECT_THAT(answers_[1], StatusIs(absl::StatusCode::kResourceExhausted,
                                    HasSubstr("in flight (tried 4 times)")));
  EXPECT_THAT(answers_[2], IsOk());
}

TEST_F(RetriedRankStreamTest, UnreachableServerFailsAfterAllAttempts) {
  server_.Stop();
  EXPECT_THAT(RankMany(3), StatusIs(absl::StatusCode::kUnavailable,
                                    HasSubstr("(tried 4 times)")));
  EXPECT_TRUE(answers_.empty());
}

TEST(RetryOptionsTest, FewerThanOneAttemptIsRefused) {
  EXPECT_THAT(SemrankClient::Create({.retry = {.max_attempts = 0}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("max_attempts 0")));
}

}  // namespace
}  // namespace semrank
