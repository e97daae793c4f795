// A small HTTP server for operators: pages by path, GET and HEAD. Everything
// that a client can stretch is bounded: header bytes, threads, waiting
// connections, and how long one may take to send or receive.
//
//   Threads  pages are made in the server's threads, several at once.
#ifndef SEMRANK_SERVER_HTTP_HTTP_SERVER_H_
#define SEMRANK_SERVER_HTTP_HTTP_SERVER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

struct mg_connection;
struct mg_context;

namespace semrank {

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

// Path to what makes the page. Other paths are 404, with a hint.
using HttpPages =
    std::map<std::string, std::function<HttpResponse()>, std::less<>>;

class HttpServer {
 public:
  // `address` is HOST:PORT; port 0 = any free one. Unavailable when it cannot
  // be listened on.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(
      const std::string& address, HttpPages pages);
  // Waits for requests that are being answered.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // HOST:PORT with the port that is in use.
  const std::string& address() const { return address_; }

 private:
  explicit HttpServer(HttpPages pages);

  static int HandleRequest(mg_connection* connection);
  HttpResponse Answer(mg_connection* connection) const;

  const HttpPages pages_;
  std::string address_;
  mg_context* context_ = nullptr;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_HTTP_HTTP_SERVER_H_
