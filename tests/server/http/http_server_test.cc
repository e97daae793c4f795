#include "server/http/http_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <semaphore>
#include <vector>

#include "tests/support/http_client.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

// Sends `bytes` as they are and returns all that comes back.
std::string Talk(const std::string& address, const std::string& bytes) {
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_port = htons(std::stoi(address.substr(address.rfind(':') + 1)));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to)), 0);
  EXPECT_GT(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL), 0);
  std::string answer;
  char buffer[4096];
  ssize_t size = 0;
  while ((size = recv(fd, buffer, sizeof(buffer), 0)) > 0) {
    answer.append(buffer, size);
  }
  close(fd);
  return answer;
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
        .answer =
            [](const HttpRequest& request) {
              return HttpResponse{.body = request.body,
                                  .headers = {{"X-Seen", request.request_id}}};
            }};
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
  EXPECT_THAT(Talk(server_->address(),
                   "POST /call HTTP/1.1\r\nAuthorization: nobody\r\n"
                   "Content-Length: 1000\r\n\r\n"),
              HasSubstr(" 401 "));
  EXPECT_THAT(Talk(server_->address(),
                   "POST /call HTTP/1.1\r\nContent-Length: 100001\r\n\r\n"),
              HasSubstr(" 413 "));
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

TEST_F(HttpServerTest, CallsTakePostOnly) {
  const HttpAnswer got = HttpGet(server_->address(), "/call");
  EXPECT_EQ(got.status, 405);
  EXPECT_THAT(got.headers, HasSubstr("Allow: POST\n"));
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
