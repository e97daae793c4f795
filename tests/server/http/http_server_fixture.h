// A server with a page and calls that echo, answer with much, or wait.
#ifndef SEMRANK_TESTS_SERVER_HTTP_HTTP_SERVER_FIXTURE_H_
#define SEMRANK_TESTS_SERVER_HTTP_HTTP_SERVER_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>

#include "server/base/errors.h"
#include "server/http/http_server.h"
#include "tests/support/http_client.h"
#include "tests/support/plain_client.h"
#include "tests/support/status_matchers.h"

namespace semrank {

inline constexpr absl::Duration kSoon = absl::Milliseconds(20);
// More than the sockets between server and client hold.
inline constexpr std::size_t kHugeBytes = std::size_t{32} << 20;

// Sends `bytes` as they are and returns all that comes back.
inline std::string SendAndReceive(const std::string& address,
                                  const std::string& bytes) {
  PlainClient client(address);
  EXPECT_TRUE(client.Send(bytes));
  return client.ReadToEnd();
}

// The status of the next response, whose rest is left unread.
inline int ReadStatus(PlainClient& client) {
  const std::string start = "HTTP/1.1 ";
  EXPECT_EQ(client.Read(start.size()), start);
  return std::stoi("0" + client.Read(3));
}

// As SendAndReceive, for a response that comes before the request is complete.
inline int StatusOf(const std::string& address, const std::string& bytes) {
  PlainClient client(address);
  EXPECT_TRUE(client.Send(bytes));
  return ReadStatus(client);
}

// Refuses with the HTTP code and the reason of the refusal.
inline HttpResponse ShowRefusal(const HttpRequest&,
                                const HttpRefusal& refusal) {
  return {.status = refusal.http_code,
          .body = ErrorReason(refusal.status) +
                  (refusal.admitted ? " after admission" : "")};
}

// `answer` runs in a thread of its own, where it may wait.
inline HttpCall MakeCall(
    std::function<HttpResponse(const HttpRequest&)> answer) {
  return {
      .max_body_bytes = 100'000,
      .admit = [](const HttpRequest&) { return std::nullopt; },
      .refuse = &ShowRefusal,
      .handle =
          [answer = std::move(answer)](const HttpRequest& request,
                                       absl::Duration, HttpDone done) {
            std::thread([answer, &request, done = std::move(done)]() mutable {
              std::move(done)(answer(request));
            }).detach();
          }};
}

class HttpServerTest : public ::testing::Test {
 protected:
  HttpServerTest() {
    calls_["/call"] = MakeCall([](const HttpRequest& request) {
      return HttpResponse{.body = request.body,
                          .headers = {{"X-Seen", request.request_id}}};
    });
    calls_["/call"].admit =
        [](const HttpRequest& request) -> std::optional<HttpResponse> {
      if (request.authorization != "refused") return std::nullopt;
      return HttpResponse{.status = 401, .body = "refused"};
    };
    calls_["/huge"] = MakeCall([](const HttpRequest&) {
      return HttpResponse{.body = std::string(kHugeBytes, 'x')};
    });
    calls_["/others/"] = {.refuse = &ShowRefusal};
    // Answers with 200 once the client is seen to have left.
    calls_["/until_left"] = MakeCall([this](const HttpRequest& request) {
      running_.release();
      while (!request.client_left()) std::this_thread::yield();
      seen_leaving_.release();
      return HttpResponse();
    });
    // Answers once `open_gate_` has a value.
    calls_["/gated"] = MakeCall(
        [this, gate = open_gate_.get_future().share()](const HttpRequest&) {
          running_.release();
          gate.wait();
          return HttpResponse();
        });
  }

  void Serve(const HttpServerOptions& options = {}) {
    HttpPages pages;
    pages["/page"] = [] { return HttpResponse{.status = 200, .body = "hi"}; };
    pages["/thread"] = [] {
      return HttpResponse{.body = std::to_string(gettid())};
    };
    server_ = HttpServer::Start("127.0.0.1:0", pages, calls_, options).value();
  }
  const std::string& address() const { return server_->address(); }
  int PageStatus() const { return HttpGet(address(), "/page").status; }
  PlainClient Post(const std::string& path) const {
    PlainClient client(address());
    EXPECT_TRUE(client.Send(
        "POST " + path + " HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n"));
    return client;
  }

  std::counting_semaphore<> running_{0};
  std::counting_semaphore<> seen_leaving_{0};
  std::promise<void> open_gate_;
  HttpCalls calls_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_SERVER_HTTP_HTTP_SERVER_FIXTURE_H_
