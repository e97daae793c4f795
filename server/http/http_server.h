// A small HTTP/1.1 server, in plain text or TLS. Whatever a client can stretch
// is bounded: bytes of head and body, calls and connections at once, and the
// time of each phase. At the bound of connections the one that has kept the
// server waiting longest is closed, so pages are served beside any number of
// silent or slow clients.
//
//   Routes   pages (GET, HEAD) and calls (POST): http_routes.h.
//   TLS      certificates as gRPC; new connections get renewed ones. A client
//            that speaks plain text to a TLS port, or TLS to a plain one, gets
//            400 in plain text, and the log a line.
//   Threads  one for I/O, kMaxHttpCalls for bodies' streams, one for pages.
#ifndef SEMRANK_SERVER_HTTP_HTTP_SERVER_H_
#define SEMRANK_SERVER_HTTP_HTTP_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/http/http_options.h"
#include "server/http/http_routes.h"

namespace semrank {

class HttpServer {
 public:
  // `address` is HOST:PORT; port 0 = any free one. Unavailable when the server
  // cannot listen there; InvalidArgument for certificates that OpenSSL refuses.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(
      const std::string& address, HttpPages pages, HttpCalls calls = {},
      const HttpServerOptions& options = {});
  // Closes every connection; handlers that run see that their client has left.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // HOST:PORT with the port that is in use.
  const std::string& address() const { return address_; }

  // Waits until the responses of all calls are sent; false when one is not at
  // `limit`. New calls are still accepted.
  bool WaitForCalls(absl::Time limit) const;

 private:
  class Listener;

  HttpServer(std::unique_ptr<Listener> listener, std::string address);

  const std::unique_ptr<Listener> listener_;
  const std::string address_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_HTTP_HTTP_SERVER_H_
