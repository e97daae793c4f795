#include "server/http/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <semaphore>
#include <vector>

#include "tests/support/http_client.h"
#include "tests/support/plain_client.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Sends `bytes` as they are and returns all that comes back.
std::string Talk(const std::string& address, const std::string& bytes) {
  PlainClient client(address);
  EXPECT_TRUE(client.Send(bytes));
  return client.ReadToEnd();
}

// As Talk, for an answer that comes before the server has read all it could.
int StatusOf(const std::string& address, const std::string& bytes) {
  const std::string start = "HTTP/1.1 ";
  PlainClient client(address);
  EXPECT_TRUE(client.Send(bytes));
  EXPECT_EQ(client.Read(start.size()), start);
  return std::stoi("0" + client.Read(3));
}

// Refuses with the HTTP code of the refusal, and says whether it was admitted.
HttpResponse TellRefusal(const HttpRequest&, const HttpRefusal& refusal) {
  return {.status = refusal.http_code,
          .body = refusal.admitted ? "admitted" : "not admitted"};
}

class HttpServerTest : public ::testing::Test {
 protected:
  HttpServerTest() {
    HttpPages pages;
    pages["/page"] = [] { return HttpResponse{.status = 200, .body = "hi"}; };
    HttpCalls calls;
    calls["/call"] = {
        .max_body_bytes = 100'000,
        .admit = [](const HttpRequest& request) -> std::optional<HttpResponse> {
          if (request.authorization != "nobody") return std::nullopt;
          return HttpResponse{.status = 401, .body = "who?"};
        },
        .refuse = &TellRefusal,
        .answer =
            [](const HttpRequest& request) {
              return HttpResponse{.body = request.body,
                                  .headers = {{"X-Seen", request.request_id}}};
            }};
    calls["/others/"] = {.refuse = &TellRefusal};
    auto server =
        HttpServer::Start("127.0.0.1:0", std::move(pages), std::move(calls));
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, AnswersGetAndHead) {
  const HttpAnswer got = HttpGet(server_->address(), "/page");
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, "hi");
  EXPECT_THAT(got.content_type, HasSubstr("text/plain"));
  const HttpAnswer head = CallHttp(server_->address(), "HEAD", "/page");
  EXPECT_EQ(head.status, 200);
}

TEST_F(HttpServerTest, UnknownPathIs404WithAHint) {
  for (const char* path : {"/", "/other", "/page/", "/../etc/passwd"}) {
    const HttpAnswer got = HttpGet(server_->address(), path);
    EXPECT_EQ(got.status, 404) << path;
    EXPECT_THAT(got.body, HasSubstr("/page\n"));
  }
}

TEST_F(HttpServerTest, OtherMethodsAreRefused) {
  EXPECT_EQ(CallHttp(server_->address(), "POST", "/page").status, 405);
  EXPECT_EQ(CallHttp(server_->address(), "DELETE", "/page").status, 405);
}

TEST_F(HttpServerTest, ACallGetsItsHeadersAndBody) {
  const std::string body(99'999, 'x');
  const HttpAnswer got = CallHttp(server_->address(), "POST", "/call",
                                  {"x-request-id: id-7\r\n", body});
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, body);
  EXPECT_THAT(got.headers, HasSubstr("X-Seen: id-7\n"));
  EXPECT_EQ(CallHttp(server_->address(), "POST", "/call").body, "");
}

TEST_F(HttpServerTest, ACallMayBeRefusedBeforeItsBodyIsRead) {
  // The body never comes: only an answer to the headers can end this.
  EXPECT_EQ(StatusOf(server_->address(),
                     "POST /call HTTP/1.1\r\nAuthorization: nobody\r\n"
                     "Content-Length: 1000\r\n\r\n"),
            401);
  EXPECT_EQ(StatusOf(server_->address(),
                     "POST /call HTTP/1.1\r\nContent-Length: 100001\r\n\r\n"),
            413);
}

TEST_F(HttpServerTest, ABodyInChunksIsBoundedToo) {
  std::string chunks;
  for (int i = 0; i < 20; ++i) {
    chunks += "1770\r\n" + std::string(6'000, 'x') + "\r\n";
  }
  EXPECT_THAT(Talk(server_->address(),
                   "POST /call HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" +
                       chunks + "0\r\n\r\n"),
              HasSubstr(" 413 "));
}

TEST(HttpServerLimitTest, CallsThatWaitKeepNobodyFromThePages) {
  std::promise<void> go_on;
  const std::shared_future<void> gate = go_on.get_future().share();
  std::counting_semaphore<kMaxHttpCalls> arrived(0);
  HttpPages pages;
  pages["/page"] = [] { return HttpResponse(); };
  HttpCalls calls;
  calls["/call"] = {.max_body_bytes = 10,
                    .admit = [](const HttpRequest&) { return std::nullopt; },
                    .refuse = &TellRefusal,
                    .answer =
                        [&](const HttpRequest&) {
                          arrived.release();
                          gate.wait();
                          return HttpResponse();
                        }};
  ASSERT_OK_AND_ASSIGN(const auto server,
                       HttpServer::Start("127.0.0.1:0", pages, calls));
  const auto call = [&] {
    return CallHttp(server->address(), "POST", "/call").status;
  };
  std::vector<std::future<int>> waiting;
  for (int i = 0; i < kMaxHttpCalls; ++i) {
    waiting.push_back(std::async(std::launch::async, call));
  }
  for (int i = 0; i < kMaxHttpCalls; ++i) arrived.acquire();
  EXPECT_EQ(call(), 429);
  EXPECT_EQ(HttpGet(server->address(), "/page").status, 200);
  go_on.set_value();
  for (std::future<int>& status : waiting) EXPECT_EQ(status.get(), 200);
}

// Connects `count` clients that send `bytes` and then nothing.
std::vector<PlainClient> SilentClients(const std::string& address, int count,
                                       const std::string& bytes = "") {
  std::vector<PlainClient> clients;
  for (int i = 0; i < count; ++i) {
    clients.emplace_back(address);
    EXPECT_TRUE(clients.back().Send(bytes));
  }
  return clients;
}

TEST_F(HttpServerTest, SilentClientsKeepNobodyOut) {
  const auto clients =
      SilentClients(server_->address(), kMaxSlowHttpConnections - 8);
  EXPECT_EQ(HttpGet(server_->address(), "/page").status, 200);
  for (const PlainClient& client : clients) EXPECT_TRUE(client.IsOpen());
}

TEST_F(HttpServerTest, OfACrowdOfSilentClientsSomeAreCutOff) {
  for (const char* sent : {"", "GET /page HTTP/1.1\r\nHost"}) {
    const auto clients = SilentClients(server_->address(), 300, sent);
    EXPECT_EQ(HttpGet(server_->address(), "/page").status, 200);
    EXPECT_EQ(CallHttp(server_->address(), "POST", "/call").status, 200);
    EXPECT_FALSE(clients.front().IsOpen());
  }
}

// As a server does that stops.
TEST(HttpServerLimitTest, WaitingForCallsWaitsForThoseWhoAreSlowToRead) {
  std::promise<void> arrived;
  const std::string body(std::size_t{32} << 20, 'x');  // more than sockets hold
  HttpCalls calls;
  calls["/call"] = {.max_body_bytes = 10,
                    .admit = [](const HttpRequest&) { return std::nullopt; },
                    .answer =
                        [&](const HttpRequest&) {
                          arrived.set_value();
                          return HttpResponse{.body = body};
                        }};
  ASSERT_OK_AND_ASSIGN(const auto server,
                       HttpServer::Start("127.0.0.1:0", {}, calls));
  EXPECT_TRUE(server->WaitForCalls(absl::InfinitePast()));
  PlainClient client(server->address());
  ASSERT_TRUE(client.Send("POST /call HTTP/1.1\r\nContent-Length: 0\r\n\r\n"));
  arrived.get_future().wait();
  EXPECT_FALSE(server->WaitForCalls(absl::Now()));
  EXPECT_GT(client.ReadToEnd().size(), body.size());
  EXPECT_TRUE(server->WaitForCalls(absl::InfiniteFuture()));
}

TEST_F(HttpServerTest, CallsTakePostOnly) {
  const HttpAnswer got = HttpGet(server_->address(), "/call");
  EXPECT_EQ(got.status, 405);
  EXPECT_EQ(got.body, "not admitted");
  EXPECT_THAT(got.headers, HasSubstr("Allow: POST\n"));
}

TEST_F(HttpServerTest, OtherPathsBelowTheCallsAreRefusedLikeCalls) {
  for (const char* method : {"GET", "POST"}) {
    const HttpAnswer got =
        CallHttp(server_->address(), method, "/others/misspelt");
    EXPECT_EQ(got.status, 404);
    EXPECT_EQ(got.body, "not admitted");
  }
}

TEST_F(HttpServerTest, ABodyThatEndsEarlyIs408) {
  PlainClient socket(server_->address());
  socket.Send("POST /call HTTP/1.1\r\nContent-Length: 10\r\n\r\nhalf");
  socket.EndSending();
  const std::string answer = socket.ReadToEnd();
  EXPECT_THAT(answer, HasSubstr(" 408 "));
  EXPECT_THAT(answer, HasSubstr("\r\n\r\nadmitted"));
}

TEST_F(HttpServerTest, WhoWaitsBeforeItSendsTheBodyIsToldToGoOn) {
  const std::string expecting = "Expect: 100-continue\r\n";
  PlainClient socket(server_->address());
  socket.Send("POST /call HTTP/1.1\r\nContent-Length: 4\r\n" + expecting +
              "\r\n");
  const std::string go_on = "HTTP/1.1 100 Continue\r\n\r\n";
  EXPECT_EQ(socket.Read(go_on.size()), go_on);
  socket.Send("body");
  const std::string answer = socket.ReadToEnd();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(answer, HasSubstr("\r\n\r\nbody"));

  const std::string refused = "POST /call HTTP/1.1\r\n" + expecting;
  EXPECT_EQ(
      StatusOf(server_->address(), refused + "Content-Length: 4\r\n"
                                             "Authorization: nobody\r\n\r\n"),
      401);
  EXPECT_EQ(
      StatusOf(server_->address(), refused + "Content-Length: 100001\r\n\r\n"),
      413);
}

TEST_F(HttpServerTest, ASecondServerOnTheSamePortFailsToStart) {
  EXPECT_THAT(HttpServer::Start(server_->address(), {}),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr(server_->address() + " (--http_address)")));
}

TEST_F(HttpServerTest, NonsenseAndHugeHeadersAreRefusedAndTheServerGoesOn) {
  EXPECT_THAT(Talk(server_->address(), "nonsense\r\n\r\n"), HasSubstr(" 400 "));
  const std::string huge =
      "GET /page HTTP/1.1\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n";
  EXPECT_THAT(Talk(server_->address(), huge),
              ::testing::Not(HasSubstr(" 200 ")));
  EXPECT_EQ(HttpGet(server_->address(), "/page").status, 200);
}

}  // namespace
}  // namespace semrank
