// With the workers blocked, what would wait too long is refused at once, what
// cannot meet its deadline is dropped, and the end of the flood is the end of
// the refusals.
#include <chrono>
#include <future>
#include <string>
#include <thread>

#include "absl/time/time.h"
#include "semrank/v1/ranking_service.pb.h"
#include "server/base/worker_pool.h"
#include "server/rpc/call_data.h"
#include "tests/server/rpc/raw_stream.h"
#include "tests/server/rpc/rpc_server_fixture.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

// Its titles are new to the server.
v1::RankRequest LargeRequest(const std::string& name) {
  v1::RankRequest request;
  request.set_query("photo editor");
  for (int i = 0; i < kLarge; ++i) {
    request.add_titles(name + " " + std::to_string(i));
  }
  return request;
}

class OverloadTest : public RpcServerFixture {
 protected:
  grpc::Status Call(const std::string& name) {
    grpc::ClientContext context;
    return Call(name, context);
  }
  grpc::Status Call(const std::string& name, grpc::ClientContext& context) {
    return CallRaw("RankingService/Rank",
                   LargeRequest(name).SerializeAsString(), context);
  }
  std::future<grpc::Status> BeginCall(const std::string& name) {
    return std::async(std::launch::async, [this, name] { return Call(name); });
  }
  // The gauge of queued texts will not do: it rises before the pool knows.
  void WaitForQueuedCall() {
    while (!workers_.has_queue()) std::this_thread::yield();
  }
  void PassMaxWait() {
    queue_time_ = queue_time_.load() +
                  absl::ToChronoMilliseconds(kMaxQueueWait) +
                  std::chrono::milliseconds(1);
  }
};

TEST_F(OverloadTest, WithTheWorkersBlockedACallIsRefusedAtOnce) {
  gate_.Close();
  auto running = BeginCall("running");
  gate_.WaitForArrival();
  auto queued = BeginCall("queued");
  WaitForQueuedCall();
  PassMaxWait();

  grpc::ClientContext context;
  const grpc::Status refused = Call("refused", context);
  EXPECT_THAT(refused, FailsWith(kExhausted, "OVERLOADED"));
  EXPECT_THAT(refused.error_message(), HasSubstr("--max_queue_wait"));
  EXPECT_TRUE(context.GetServerTrailingMetadata().contains(kPushbackTrailer));
  EXPECT_EQ(Rejected("OVERLOADED"), 1);

  gate_.Open();
  EXPECT_THAT(running.get(), Succeeds());
  EXPECT_THAT(queued.get(), Succeeds());
  EXPECT_THAT(Call("after"), Succeeds());
}

TEST_F(OverloadTest, ARequestOfARankStreamIsRefusedLikeACall) {
  gate_.Close();
  auto running = BeginCall("running");
  gate_.WaitForArrival();
  auto queued = BeginCall("queued");
  WaitForQueuedCall();
  PassMaxWait();

  RawStream stream(channel_, "RankingService/RankStream");
  v1::RankStreamRequest request;
  request.set_request_number(7);
  *request.mutable_request() = LargeRequest("refused");
  stream.Write(request.SerializeAsString());
  std::string bytes;
  ASSERT_TRUE(stream.Read(bytes));
  v1::RankStreamResponse answer;
  ASSERT_TRUE(answer.ParseFromString(bytes));
  EXPECT_EQ(answer.request_number(), 7);
  EXPECT_EQ(answer.status().code(), kExhausted);
  EXPECT_EQ(ErrorInfoOf(answer.status()).reason(), "OVERLOADED");

  gate_.Open();
  *request.mutable_request() = LargeRequest("after");
  EXPECT_THAT(running.get(), Succeeds());
  EXPECT_THAT(queued.get(), Succeeds());
  stream.Write(request.SerializeAsString());
  ASSERT_TRUE(stream.Read(bytes));
  ASSERT_TRUE(answer.ParseFromString(bytes));
  EXPECT_FALSE(answer.has_status());
  stream.HalfClose();
  EXPECT_FALSE(stream.Read(bytes));
  EXPECT_THAT(stream.Finish(), Succeeds());
}

TEST_F(OverloadTest, WhatCannotMeetItsDeadlineIsDroppedWithoutRunning) {
  gate_.Close();
  auto running = BeginCall("running");
  gate_.WaitForArrival();
  // Not one alone, which might have stalled.
  for (int i = 0; i < 200; ++i) {
    admission_.costs().Record(RequestKind::kRank, kLarge, absl::Hours(2));
  }
  auto hopeless = std::async(std::launch::async, [this] {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::hours(1));
    return Call("hopeless", context);
  });
  WaitForQueuedCall();
  // Comes after it, as one of the same caller.
  workers_.Submit({.run = [] {}, .caller = "ipv4:127.0.0.1", .is_long = true});

  gate_.Open();
  EXPECT_THAT(running.get(), Succeeds());
  const grpc::Status dropped = hopeless.get();
  EXPECT_EQ(dropped.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_THAT(dropped.error_message(), HasSubstr("it was not begun"));
  EXPECT_THAT(Call("after"), Succeeds());
}

}  // namespace
}  // namespace semrank
