// The pages (GET and HEAD) and calls (POST, some also GET) of an HTTP server,
// by path.
//
//   Threads  pages and body streams run in worker threads and may block;
//            `admit`, `refuse`, `handle` and `open_stream` run in the I/O
//            thread and must not.
#ifndef SEMRANK_SERVER_HTTP_HTTP_ROUTES_H_
#define SEMRANK_SERVER_HTTP_HTTP_ROUTES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"

namespace semrank {

struct HttpRequest {
  bool is_get = false;
  std::string path = {};   // of the target, as it was sent
  std::string query = {};  // what follows its "?", still encoded
  // Headers; empty = absent.
  std::string authorization = {};
  std::string request_id = {};
  std::string traceparent = {};
  std::string peer = {};  // "ipv4:10.0.0.7:40312", as gRPC writes it
  // The caller as shares name it (auth/caller_name.h).
  std::string caller = {};
  std::uint64_t content_length = 0;  // 0 = none, or not known
  std::string body = {};
  // In `handle`, until the response: whether the client has closed its side.
  // Costs one atomic load.
  std::function<bool()> client_left = {};
};

// Replaces each %XX by its byte, as RFC 3986 says: clients encode so what would
// end a part of a path or of a query.
std::string PercentDecode(std::string_view text);

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body = {};
  // Further headers; names and values have no line breaks.
  std::vector<std::pair<std::string, std::string>> headers = {};
};

// Gets the response to one request, in any thread. Nullopt = a body's stream
// has taken a piece and wants more.
using HttpDone = absl::AnyInvocable<void(std::optional<HttpResponse>) &&>;

using HttpPage = std::function<HttpResponse()>;
using HttpPages = std::map<std::string, HttpPage, std::less<>>;

// Why a call is answered by `refuse`.
struct HttpRefusal {
  int http_code = 0;
  absl::Status status = {};
  // Whether `admit` has accepted it, and the time since.
  bool admitted = false;
  absl::Duration time = {};
};

// Receives the body of one request piece by piece, so that it may be of any
// length. One worker thread at a time calls Take.
class HttpBodyStream {
 public:
  virtual ~HttpBodyStream() = default;

  // Receives the next piece; `last` with the final one, which may be empty and
  // must get a response. An earlier response ends the call; the rest of the
  // body is not read then.
  virtual std::optional<HttpResponse> Take(std::string piece, bool last) = 0;
  // Bytes that it keeps until more arrive; not called while Take runs.
  virtual std::size_t pending_bytes() const { return 0; }
};

// One path of calls. Exactly one of `admit`, `refuse`, `handle` and the body's
// stream makes the response of each request, also where the client left before
// it could be sent.
struct HttpCall {
  bool takes_get = false;           // beside POST
  std::int64_t max_body_bytes = 0;  // larger ones are 413; not for streams
  // Checks the headers before the body is read; a response ends the call.
  std::function<std::optional<HttpResponse>(const HttpRequest&)> admit = {};
  // Answers another method (405), a missing client certificate or a page of
  // another origin (403), a host that is not served (421), too many calls at
  // once (429), and after `admit` a body that is too large (413), late or cut
  // off (408), or malformed (400).
  std::function<HttpResponse(const HttpRequest&, const HttpRefusal&)> refuse =
      {};
  // One of the two; neither = there is no such call. `handle` begins to answer
  // the request, which outlives the call of `done`. It may keep its thread for
  // `max_time` and calls `done` once, perhaps before it returns.
  std::function<void(const HttpRequest&, absl::Duration max_time,
                     HttpDone done)>
      handle = {};
  // The request outlives the stream.
  std::function<std::unique_ptr<HttpBodyStream>(const HttpRequest&)>
      open_stream = {};
};

// The calls by path. A path that ends with "/" stands for all others below it,
// the longest such path first. Without a handler they do not exist: its
// `refuse` makes their 404. A path that ends with "?" stands for the path
// before it with a query: a page that a form is sent to.
using HttpCalls = std::map<std::string, HttpCall, std::less<>>;

struct HttpRoutes {
  // A path is a page, a call or unknown (both null).
  const HttpPage* FindPage(std::string_view path) const;
  const HttpCall* FindCall(std::string_view path, std::string_view query) const;
  // 404 with the paths that exist.
  HttpResponse NotFound() const;

  HttpPages pages;
  HttpCalls calls;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_HTTP_HTTP_ROUTES_H_
