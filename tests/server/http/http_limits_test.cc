#include <set>
#include <string>

#include "tests/server/http/http_server_fixture.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Deadlines. Without them these tests would not end.

TEST_F(HttpServerTest, ClientThatSendsNoWholeHeadInTimeIsClosed) {
  Serve({.timeouts = {.head = kSoon}});
  EXPECT_EQ(SendAndReceive(address(), ""), "");
  EXPECT_EQ(SendAndReceive(address(), "GET /page HTTP/1.1\r\nHost"), "");
}

TEST_F(HttpServerTest, BodyThatIsLateIs408HoweverItDrips) {
  Serve({.timeouts = {.body = kSoon}});
  PlainClient client(address());
  client.Send("POST /call HTTP/1.1\r\nContent-Length: 100000\r\n\r\n");
  while (client.IsOpen()) client.Send("x");
  const std::string response = client.ReadToEnd();
  EXPECT_THAT(response, StartsWith("HTTP/1.1 408 "));
  EXPECT_THAT(response, HasSubstr("DEADLINE_EXCEEDED after admission"));
}

TEST_F(HttpServerTest, ClientThatDoesNotReadItsResponseInTimeIsClosed) {
  Serve({.timeouts = {.response = kSoon}});
  PlainClient client = Post("/huge");
  EXPECT_EQ(ReadStatus(client), 200);
  EXPECT_TRUE(server_->WaitForCalls(absl::InfiniteFuture()));
  EXPECT_LT(client.ReadToEnd().size(), kHugeBytes);
}

TEST_F(HttpServerTest, IdleConnectionIsClosed) {
  Serve({.timeouts = {.idle = kSoon}});
  EXPECT_THAT(SendAndReceive(address(), "GET /page HTTP/1.1\r\n\r\n"),
              ::testing::EndsWith("hi"));
}

TEST_F(HttpServerTest, RefusedClientThatNeverClosesIsClosed) {
  Serve({.timeouts = {.linger = kSoon}});
  PlainClient client(address());
  client.Send("POST /call HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n");
  EXPECT_THAT(client.ReadToEnd(), HasSubstr(" 413 "));
  while (client.Send("x")) std::this_thread::yield();
}

// Bounds.

// The allocator keeps for each thread what a large page took.
TEST_F(HttpServerTest, OneThreadRendersThePages) {
  Serve();
  std::set<std::string> threads;
  for (int i = 0; i < 50; ++i) {
    threads.insert(HttpGet(address(), "/thread").body);
  }
  EXPECT_EQ(threads.size(), 1u);
}

TEST_F(HttpServerTest, PagesAreServedWhileEveryPlaceForCallsIsTaken) {
  Serve();
  std::vector<PlainClient> waiting;
  for (int i = 0; i < kMaxHttpCalls; ++i) waiting.push_back(Post("/gated"));
  for (int i = 0; i < kMaxHttpCalls; ++i) running_.acquire();
  const HttpAnswer refused = CallHttp(address(), "POST", "/call");
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.body, "OVERLOADED");
  EXPECT_EQ(PageStatus(), 200);
  open_gate_.set_value();
  for (PlainClient& client : waiting) EXPECT_EQ(ReadStatus(client), 200);
  EXPECT_EQ(CallHttp(address(), "POST", "/call").status, 200);
}

TEST_F(HttpServerTest, AtTheLimitTheClientThatIsSilentLongestIsClosed) {
  Serve({.max_connections = 20});
  for (const char* sent :
       {"", "GET /page HTTP/1.1\r\nHost",
        "POST /call HTTP/1.1\r\nContent-Length: 9\r\n\r\n"}) {
    std::vector<PlainClient> silent;
    for (int i = 0; i < 100; ++i) {
      silent.emplace_back(address());
      EXPECT_TRUE(silent.back().Send(sent));
    }
    EXPECT_EQ(PageStatus(), 200);
    EXPECT_EQ(silent.front().ReadToEnd(), "");
    EXPECT_TRUE(silent.back().IsOpen());
  }
  EXPECT_EQ(CallHttp(address(), "POST", "/call").status, 200);
}

TEST_F(HttpServerTest, BelowTheLimitSilentClientsStayConnected) {
  Serve({.max_connections = 20});
  std::vector<PlainClient> silent;
  for (int i = 0; i < 19; ++i) silent.emplace_back(address());
  EXPECT_EQ(PageStatus(), 200);
  for (const PlainClient& client : silent) EXPECT_TRUE(client.IsOpen());
}

TEST_F(HttpServerTest, ConnectionsWhoseCallsRunAreNotClosedForOthers) {
  Serve({.max_connections = 2});
  PlainClient first = Post("/gated");
  PlainClient second = Post("/gated");
  running_.acquire();
  running_.acquire();
  EXPECT_EQ(HttpGet(address(), "/page").status, 0);
  open_gate_.set_value();
  EXPECT_EQ(ReadStatus(first), 200);
  EXPECT_EQ(ReadStatus(second), 200);
}

// Leaving and stopping.

TEST_F(HttpServerTest, RunningCallSeesThatItsClientHasLeft) {
  Serve();
  {
    const PlainClient client = Post("/until_left");
    running_.acquire();
  }
  seen_leaving_.acquire();
  Post("/until_left").Reset();
  seen_leaving_.acquire();
}

TEST_F(HttpServerTest, WaitingForCallsWaitsForClientsThatReadSlowly) {
  Serve();
  EXPECT_TRUE(server_->WaitForCalls(absl::InfinitePast()));
  PlainClient client = Post("/huge");
  EXPECT_EQ(ReadStatus(client), 200);
  EXPECT_FALSE(server_->WaitForCalls(absl::Now()));
  std::string body = client.Read(kHugeBytes);
  EXPECT_EQ(body.size(), kHugeBytes);
  EXPECT_TRUE(server_->WaitForCalls(absl::InfiniteFuture()));
}

TEST_F(HttpServerTest, ServerThatEndsTellsItsCallsAndWaitsForThem) {
  Serve();
  PlainClient client = Post("/until_left");
  const PlainClient silent(address());
  running_.acquire();
  server_.reset();
  EXPECT_TRUE(seen_leaving_.try_acquire());
  EXPECT_EQ(client.ReadToEnd(), "");
}

}  // namespace
}  // namespace semrank
