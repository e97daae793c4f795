#include "client/load/load_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "tests/client/lib/fake_server.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

// Whether the connection carries its calls on one stream.
class LoadConnectionTest : public ::testing::TestWithParam<bool> {
 protected:
  ~LoadConnectionTest() override {
    connection_->Close();
    while (!connection_->is_closed()) HandleEvent();
    queue_.Shutdown();
  }

  std::unique_ptr<LoadConnection> Connect() {
    const auto on_response = [this](LoadCall& call) {
      responses_.push_back(call.status);
      if (num_repeats_ > 0) {
        --num_repeats_;
        connection_->Send(request_, call);
      }
    };
    const ClientOptions options{.address = server_.address()};
    return GetParam()
               ? LoadConnection::MakeStream(options, &queue_, on_response,
                                            absl::Now() + absl::Minutes(1))
               : LoadConnection::MakeUnary(options, &queue_, on_response);
  }
  void Send(const std::string& query) {
    request_.set_query(query);
    connection_->Send(request_, calls_.emplace_back());
  }
  void HandleEvent() {
    void* tag = nullptr;
    bool ok = false;
    const auto deadline =
        std::chrono::system_clock::now() + std::chrono::seconds(30);
    ASSERT_EQ(queue_.AsyncNext(&tag, &ok, deadline),
              grpc::CompletionQueue::GOT_EVENT);
    static_cast<LoadEvent*>(tag)->Handle(ok);
  }
  void WaitForResponses(std::size_t count) {
    while (responses_.size() < count) HandleEvent();
  }

  FakeServer server_;
  grpc::CompletionQueue queue_;
  v1::RankRequest request_;
  std::deque<LoadCall> calls_;
  std::vector<absl::Status> responses_;
  int num_repeats_ = 0;  // calls that are sent again from their response
  std::unique_ptr<LoadConnection> connection_ = Connect();
};

INSTANTIATE_TEST_SUITE_P(Kinds, LoadConnectionTest, ::testing::Bool(),
                         [](const auto& test) {
                           return test.param ? "Stream" : "Unary";
                         });

TEST_P(LoadConnectionTest, EveryCallGetsOneResponse) {
  for (int i = 0; i < 20; ++i) Send("q");
  WaitForResponses(20);
  EXPECT_EQ(responses_.size(), 20u);
  EXPECT_THAT(responses_, Each(IsOk()));
  EXPECT_EQ(server_.num_calls(), GetParam() ? 1 : 20);
}

TEST_P(LoadConnectionTest, AResponseMaySendItsCallAgain) {
  num_repeats_ = 10;
  Send("q");
  WaitForResponses(11);
  EXPECT_THAT(responses_, Each(IsOk()));
}

TEST_P(LoadConnectionTest, AFailedCallDoesNotFailTheOthers) {
  server_.OnRank([](const v1::RankRequest& request, v1::RankResponse* out) {
    return request.query() == "bad"
               ? ServerError(grpc::StatusCode::INVALID_ARGUMENT, "EMPTY_QUERY",
                             "why")
               : RankInOrder(request, out);
  });
  Send("bad");
  WaitForResponses(1);
  Send("good");
  WaitForResponses(2);
  EXPECT_THAT(responses_[0],
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("why")));
  EXPECT_THAT(responses_[1], IsOk());
}

TEST_P(LoadConnectionTest, AResponseWithMoreIndicesThanScoresIsInternal) {
  server_.OnRank([](const v1::RankRequest&, v1::RankResponse* response) {
    response->add_indices(0);
    return grpc::Status::OK;
  });
  Send("q");
  WaitForResponses(1);
  EXPECT_THAT(responses_[0], StatusIs(absl::StatusCode::kInternal));
}

TEST_P(LoadConnectionTest, WithoutAServerEveryCallIsUnavailable) {
  server_.Stop();
  for (int i = 0; i < 3; ++i) Send("q");
  WaitForResponses(3);
  EXPECT_THAT(responses_, Each(StatusIs(absl::StatusCode::kUnavailable,
                                        HasSubstr(server_.address()))));
}

// The server responds to one request of the stream that it rejects.
TEST_P(LoadConnectionTest, AfterARejectionTheNextCallIsSentAnew) {
  server_.RejectNext(1, "1");
  for (int i = 0; i < 3; ++i) Send("q");
  WaitForResponses(3);
  int num_failed = 0;
  for (const absl::Status& status : responses_) num_failed += !status.ok();
  EXPECT_EQ(num_failed, GetParam() ? 2 : 1);
  Send("q");
  WaitForResponses(4);
  EXPECT_THAT(responses_[3], IsOk());
  EXPECT_EQ(server_.num_calls(), GetParam() ? 2 : 4);
}

TEST_P(LoadConnectionTest, WithoutCallsItIsClosed) {
  EXPECT_TRUE(connection_->is_closed());
  EXPECT_EQ(server_.num_calls(), 0);
}

}  // namespace
}  // namespace semrank
