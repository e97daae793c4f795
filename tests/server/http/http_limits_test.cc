#include <atomic>
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

TEST_F(HttpServerTest, BodySlowerThanTheRateIs408HoweverItDrips) {
  Serve({.timeouts = {.body = kSoon}, .min_body_rate = 1 << 30});
  PlainClient client(address());
  client.Send(
      "POST /call HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n");
  while (client.IsOpen()) client.Send("x");
  const std::string response = client.ReadToEnd();
  EXPECT_THAT(response, StartsWith("HTTP/1.1 408 "));
  EXPECT_THAT(response, HasSubstr("DEADLINE_EXCEEDED after admission"));
}

TEST_F(HttpServerTest, TheRefusalOfASlowBodyNamesTheRateAndItsFlag) {
  calls_["/call"].refuse = [](const HttpRequest&, const HttpRefusal& refusal) {
    return HttpResponse{.status = refusal.http_code,
                        .body = std::string(refusal.status.message())};
  };
  Serve({.timeouts = {.body = kSoon}, .min_body_rate = 1'000});
  EXPECT_THAT(SendAndReceive(address(),
                             "POST /call HTTP/1.1\r\nHost: h\r\n"
                             "Content-Length: 99\r\n\r\n1234567890"),
              HasSubstr("the body arrived at 500 B/s over 20ms; it must arrive "
                        "at 1000 B/s or faster (--min_body_rate)"));
}

// A page of another client between two pieces lets the server read each piece
// by itself. Each ends within a line, so that none is left unparsed.
TEST_F(HttpServerTest, HeadOverTheLimitIs431InWhateverPiecesItComes) {
  Serve();
  PlainClient client(address());
  client.Send("GET /page HTTP/1.1\r\nHost: h\r\nX");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(PageStatus(), 200);
    client.Send(": " + std::string(7'000, 'x') + "\r\nX");
  }
  EXPECT_EQ(PageStatus(), 200);
  client.Send(": x\r\n\r\n");
  EXPECT_EQ(ReadStatus(client), 431);
}

// Each byte comes long after the one before it, as the server measures.
TEST_F(HttpServerTest, BodyThatIsFastEnoughMayTakeManyPeriods) {
  Serve({.timeouts = {.body = absl::Milliseconds(1)}, .min_body_rate = 0});
  PlainClient client(address());
  client.Send("POST /call HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n1");
  // Requests of other clients take several periods.
  for (int i = 0; i < 50; ++i) EXPECT_EQ(PageStatus(), 200);
  client.Send("2");
  EXPECT_EQ(ReadStatus(client), 200);
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
  EXPECT_THAT(
      SendAndReceive(address(), "GET /page HTTP/1.1\r\nHost: h\r\n\r\n"),
      ::testing::EndsWith("hi"));
}

TEST_F(HttpServerTest, RefusedClientThatNeverClosesIsClosed) {
  Serve({.timeouts = {.linger = kSoon}});
  PlainClient client(address());
  client.Send(
      "POST /call HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n");
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
  EXPECT_EQ(refused.body, "OVERLOADED after admission");
  EXPECT_EQ(PageStatus(), 200);
  open_gate_.set_value();
  for (PlainClient& client : waiting) EXPECT_EQ(ReadStatus(client), 200);
  EXPECT_EQ(CallHttp(address(), "POST", "/call").status, 200);
}

// A place is taken when there is something to do: bodies that do not arrive
// take none, nor do calls that are refused by their heads.
TEST_F(HttpServerTest, SlowBodiesTakeNoPlaceForCalls) {
  Serve();
  std::vector<PlainClient> slow;
  for (int i = 0; i < 2 * kMaxHttpCalls; ++i) {
    slow.emplace_back(address());
    slow.back().Send(
        "POST /call HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n1");
  }
  EXPECT_EQ(CallHttp(address(), "POST", "/call").status, 200);
  slow.front().Send("23456789");
  EXPECT_EQ(ReadStatus(slow.front()), 200);
}

TEST_F(HttpServerTest, OneCallerLeavesPlacesToOthers) {
  Serve({.max_share_per_caller = 0.5});
  std::vector<PlainClient> waiting;
  for (int i = 0; i < kMaxHttpCallsPerCaller; ++i) {
    waiting.push_back(Post("/gated"));
    running_.acquire();
  }
  const HttpAnswer refused = CallHttp(address(), "POST", "/call");
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.body, "CALLER_SHARE after admission");
  PlainClient other;
  ASSERT_TRUE(other.Bind("127.0.0.2"));
  ASSERT_TRUE(other.Connect(address()));
  other.Send("POST /call HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(ReadStatus(other), 200);
  open_gate_.set_value();
}

// The server refuses the body that has been arriving for longest, and serves
// the new call.
class UnfinishedBodiesTest : public HttpServerTest,
                             public ::testing::WithParamInterface<double> {};

TEST_P(UnfinishedBodiesTest, OverItsShareTheSlowestBodyOfACallerEnds) {
  Serve({.max_unfinished_bytes = static_cast<int>(1'000 / GetParam()),
         .max_share_per_caller = GetParam()});
  const std::string head =
      "POST /call HTTP/1.1\r\nHost: h\r\nContent-Length: 701\r\n\r\n";
  PlainClient slow(address());
  slow.Send(head + std::string(700, 'x'));
  // A page that comes later shows that it has been read.
  EXPECT_EQ(PageStatus(), 200);
  PlainClient newcomer(address());
  newcomer.Send(head + std::string(700, 'y'));
  const std::string ended = slow.ReadToEnd();
  EXPECT_THAT(ended, StartsWith("HTTP/1.1 429 "));
  EXPECT_THAT(ended, HasSubstr("CALLER_SHARE after admission"));
  newcomer.Send("y");
  EXPECT_EQ(ReadStatus(newcomer), 200);
}

INSTANTIATE_TEST_SUITE_P(Shares, UnfinishedBodiesTest,
                         ::testing::Values(0.5, 1));

TEST_F(HttpServerTest, ACallThatFindsNoPlaceIsRefusedOnceAndEndsNoBody) {
  std::atomic<int> num_refused = 0;
  calls_["/call"].refuse = [&num_refused](const HttpRequest& request,
                                          const HttpRefusal& refusal) {
    ++num_refused;
    return ShowRefusal(request, refusal);
  };
  Serve({.max_unfinished_bytes = 2'000, .max_share_per_caller = 0.5});
  std::vector<PlainClient> waiting;
  for (int i = 0; i < kMaxHttpCallsPerCaller; ++i) {
    waiting.push_back(Post("/gated"));
    running_.acquire();
  }
  PlainClient slow(address());
  slow.Send("POST /call HTTP/1.1\r\nHost: h\r\nContent-Length: 701\r\n\r\n" +
            std::string(700, 'x'));
  EXPECT_EQ(PageStatus(), 200);
  const HttpMessage whole = {.body = std::string(700, 'y')};
  EXPECT_EQ(CallHttp(address(), "POST", "/call", whole).status, 429);
  EXPECT_EQ(num_refused, 1);
  open_gate_.set_value();
  for (PlainClient& client : waiting) EXPECT_EQ(ReadStatus(client), 200);
  slow.Send("x");
  EXPECT_EQ(ReadStatus(slow), 200);
  server_.reset();  // It uses `num_refused`.
}

TEST_F(HttpServerTest, ConnectionsOverTheLimitAreCounted) {
  ConnectionCount count(/*max_connections=*/1);
  Serve({.max_connections = 1, .connections = &count});
  const PlainClient silent(address());
  EXPECT_EQ(PageStatus(), 200);
  EXPECT_EQ(count.num_refused(), 1);
  server_.reset();  // It uses `count`.
}

TEST_F(HttpServerTest, ACrowdFromOneAddressClosesItsOwnConnections) {
  Serve({.max_connections = 20});
  PlainClient other;
  ASSERT_TRUE(other.Bind("127.0.0.2"));
  ASSERT_TRUE(other.Connect(address()));
  std::vector<PlainClient> crowd;
  for (int i = 0; i < 100; ++i) crowd.emplace_back(address());
  EXPECT_EQ(PageStatus(), 200);
  EXPECT_TRUE(other.IsOpen());
  other.Send("GET /page HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(ReadStatus(other), 200);
}

TEST_F(HttpServerTest, OverTheLimitTheConnectionThatLeftMostUnreadIsClosed) {
  UnreadResponses unread(kHugeBytes);
  Serve({.unread = &unread});
  PlainClient hog = Post("/huge");
  EXPECT_EQ(ReadStatus(hog), 200);
  EXPECT_EQ(unread.num_bytes(), kHugeBytes);
  EXPECT_EQ(unread.num_ended(), 0);
  // As gRPC does for one of its calls, which holds less.
  unread.Add({"client", "connection"}, 1'000);
  EXPECT_LT(hog.ReadToEnd().size(), kHugeBytes);
  EXPECT_EQ(unread.num_bytes(), 1'000);
  EXPECT_EQ(unread.num_ended(), 1);
  EXPECT_EQ(CallHttp(address(), "POST", "/call").status, 200);
  server_.reset();  // It uses `unread`.
}

TEST_F(HttpServerTest, AtTheLimitTheClientThatIsSilentLongestIsClosed) {
  Serve({.max_connections = 20});
  for (const char* sent :
       {"", "GET /page HTTP/1.1\r\nHost",
        "POST /call HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n"}) {
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
  ConnectionCount count(/*max_connections=*/1);
  Serve({.max_connections = 20, .connections = &count});
  std::vector<PlainClient> silent;
  for (int i = 0; i < 19; ++i) silent.emplace_back(address());
  EXPECT_EQ(PageStatus(), 200);
  for (const PlainClient& client : silent) EXPECT_TRUE(client.IsOpen());
  EXPECT_EQ(count.num_refused(), 0);
  server_.reset();  // It uses `count`.
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
