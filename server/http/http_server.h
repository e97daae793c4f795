// A small HTTP server: pages for operators by path, GET and HEAD, and calls,
// POST. Everything that a client can stretch is bounded: header and body bytes,
// threads, waiting connections, and how long one may take to send or receive.
//
//   Threads  pages and calls are answered in the server's threads, several at
//            once; they may block.
#ifndef SEMRANK_SERVER_HTTP_HTTP_SERVER_H_
#define SEMRANK_SERVER_HTTP_HTTP_SERVER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/http/calls_in_hand.h"
#include "server/http/connection_watch.h"

struct mg_connection;
struct mg_context;

namespace semrank {

struct HttpRequest {
  // Headers; empty = not there.
  std::string authorization = {};
  std::string request_id = {};
  std::string traceparent = {};
  std::string body = {};
  // While it is answered: whether the client has closed its side. Takes some
  // 100 us.
  std::function<bool()> client_left = {};
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body = {};
  // Further ones; names and values without line breaks.
  std::vector<std::pair<std::string, std::string>> headers = {};
};

// Path to what makes the page. Other paths are 404, with a hint.
using HttpPages =
    std::map<std::string, std::function<HttpResponse()>, std::less<>>;

// Why a call is answered by `refuse`.
struct HttpRefusal {
  int http_code = 0;
  absl::Status status = {};
  // Whether `admit` has let it in, and the time since.
  bool admitted = false;
  absl::Duration time = {};
};

// One path that takes POST. Whatever comes of a request to it, exactly one of
// the three makes the answer.
struct HttpCall {
  std::int64_t max_body_bytes = 0;  // larger ones are 413
  // Looks at the headers, before the body is read; an answer ends the call.
  std::function<std::optional<HttpResponse>(const HttpRequest&)> admit = {};
  // For too many calls in hand (429), another method (405) and, after `admit`,
  // a body that is too large (413) or does not come (408).
  std::function<HttpResponse(const HttpRequest&, const HttpRefusal&)> refuse =
      {};
  std::function<HttpResponse(const HttpRequest&)> answer = {};
};

// By path. One that ends with "/" stands for all others below it, which do not
// exist: its `refuse` makes their 404.
using HttpCalls = std::map<std::string, HttpCall, std::less<>>;

// At once; further ones are 429.
inline constexpr int kMaxHttpCalls = 24;

// Connections that are answered at once, each by a thread; as many as wait for
// one of these to end; what comes beyond waits in the kernel. (As civetweb
// takes numbers.)
inline constexpr char kMaxHttpConnections[] = "128";
inline constexpr char kMaxWaitingHttpConnections[] = "64";

// Connections that may keep a thread waiting for the head of a request or until
// an answer is taken. With more of them those that wait longest are cut off
// (ConnectionWatch), so that beside them and all calls threads are free.
inline constexpr int kMaxSlowHttpConnections = 88;

class HttpServer {
 public:
  // `address` is HOST:PORT; port 0 = any free one. Unavailable when it cannot
  // be listened on.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(
      const std::string& address, HttpPages pages, HttpCalls calls = {});
  // Breaks off what is still being answered: civetweb sends nothing more.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // HOST:PORT with the port that is in use.
  const std::string& address() const { return address_; }

  // Waits until every call's answer is sent; false when one still is not at
  // `limit`. New ones are still taken meanwhile.
  bool WaitForCalls(absl::Time limit) const {
    return calls_in_hand_.WaitUntilNone(limit);
  }

 private:
  HttpServer(HttpPages pages, HttpCalls calls);

  static int HandleOpening(const mg_connection* connection, void** data);
  static int HandleRequest(mg_connection* connection);
  HttpResponse Answer(mg_connection* connection) const;
  HttpResponse AnswerCall(mg_connection* connection,
                          const HttpCall& call) const;
  // Null = the path is a page, or nothing.
  const HttpCall* FindCall(std::string_view path) const;
  HttpResponse NoSuchPage() const;

  const HttpPages pages_;
  const HttpCalls calls_;
  mutable std::atomic<int> num_calls_ = 0;
  mutable CallsInHand calls_in_hand_;
  std::string address_;
  ConnectionWatch watch_{kMaxSlowHttpConnections};
  mg_context* context_ = nullptr;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_HTTP_HTTP_SERVER_H_
