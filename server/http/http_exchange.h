// One request and its response, without the socket and the timers: parses the
// bytes as they arrive, finds the route, refuses what may not be read, and says
// what the connection is to do next.
//
//   Threads  the I/O thread, but for the handler that a step carries.
#ifndef SEMRANK_SERVER_HTTP_HTTP_EXCHANGE_H_
#define SEMRANK_SERVER_HTTP_HTTP_EXCHANGE_H_

#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/optional.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/http/http_connections.h"
#include "server/http/http_routes.h"

namespace semrank {

// Bytes of a head. A client that has sent as much ahead of the responses is not
// read until they are sent.
inline constexpr std::uint32_t kMaxHeadBytes = 16'384;

// Beast's Body for a text that grows as bytes come: a string_body would reserve
// at once what Content-Length claims. A body that is complete has room behind
// its end, which parsers of JSON want.
struct HttpBody {
  using value_type = std::string;
  // Capacity beyond the body's bytes, since simdjson reads beyond the end.
  static constexpr std::size_t kPadding = 64;
  class reader {  // Beast's name
   public:
    using ErrorCode = boost::system::error_code;

    template <bool is_request, typename Fields>
    reader(boost::beast::http::header<is_request, Fields>& /*head*/,
           std::string& body)
        : body_(body) {}
    void init(const boost::optional<std::uint64_t>& content_length,
              ErrorCode& error);
    template <typename Buffers>
    std::size_t put(const Buffers& buffers, ErrorCode& error) {
      error = {};
      std::size_t num_bytes = 0;
      for (const boost::asio::const_buffer buffer :
           boost::beast::buffers_range_ref(buffers)) {
        body_.append(static_cast<const char*>(buffer.data()), buffer.size());
        num_bytes += buffer.size();
      }
      return num_bytes;
    }
    void finish(ErrorCode& error);

   private:
    std::string& body_;
  };
};

class HttpExchange {
 public:
  // What the connection does next: more bytes are needed; the body begins, and
  // the client may wait for 100 Continue; a handler runs; or a response is
  // sent.
  struct ReadMore {};
  struct ReadBody {
    bool send_continue = false;
  };
  // Starts the handler, which may keep the thread for `max_time`.
  using RunHandler =
      absl::AnyInvocable<void(absl::Duration max_time, HttpDone done) &&>;
  using Step = std::variant<ReadMore, ReadBody, RunHandler, HttpResponse>;

  // The client of a connection, which outlives the exchange.
  struct Client {
    std::string peer = {};
    bool has_certificate = false;
    std::atomic<bool> has_left = false;  // handlers read it
  };

  HttpExchange(HttpConnections& connections, const Client& client);
  // Ends the call, whose handler no longer runs.
  ~HttpExchange() { End(); }
  HttpExchange(const HttpExchange&) = delete;
  HttpExchange& operator=(const HttpExchange&) = delete;

  // Parses the beginning of `input` and removes it.
  Step Parse(std::string_view& input);
  // The responses to a body that does not arrive, or of which the last period
  // brought too few bytes; they count the admitted call.
  HttpResponse RefuseLateBody(std::uint64_t num_bytes);
  HttpResponse RefuseBodyCutOff();
  // As these, to a body that must go because its caller has too many bytes of
  // bodies that do not arrive; drops what has arrived.
  HttpResponse RefuseSlowBody();
  // Counts the bytes of the body that wait in memory; false when they exceed
  // the share of the caller, for which one of its bodies must go.
  bool CountBody();
  // The stream of the body has taken a piece, and wants more.
  void OnPieceTaken() { ReturnPlace(); }
  // Bytes of the body that have arrived.
  std::uint64_t num_body_bytes() const { return num_body_bytes_; }
  // As FairShare knows the caller; empty before the head is parsed.
  const std::string& caller() const { return request_.caller; }

  // Whether the response may be compressed.
  bool accepts_gzip() const { return accepts_gzip_; }
  // Adds the headers that depend on the request, and returns the bytes of the
  // head; leaves no body where the request wants none. Frees the call's place.
  std::string FinishResponse(bool keep_alive, HttpResponse& response);
  // How much of the body must still be read so that the next request can
  // follow; nullopt = the connection must end.
  std::optional<std::uint64_t> UnreadBytes() const;
  // The response is sent, or never will be.
  void End();

 private:
  using Parser = boost::beast::http::request_parser<HttpBody>;

  Step OnMalformed(const boost::system::error_code& error);
  Step OnHead();
  Step OnCall();
  Step OnBody();
  // Passes the bytes of the body that have arrived to its stream.
  Step TakePiece();
  // Takes one of the kMaxHttpCalls places, or returns the refusal.
  absl::Status TakePlace();
  void ReturnPlace();
  void ReadHead();
  // "http" or "https", as the browser sees it.
  std::string Scheme() const;
  // The refusal of any request for its Host (http_origins), without one, or for
  // two of the headers that say whose request it is; nullopt = there is none.
  std::optional<HttpResponse> RefuseByHost();
  // The refusal of a call for its path, origin, method, Content-Encoding or
  // missing certificate; nullopt = there is none.
  std::optional<HttpResponse> RefuseByHead() const;
  HttpResponse Refuse(const HttpRefusal& refusal) const {
    return call_->refuse(request_, refusal);
  }
  HttpResponse RefuseBody(int http_code, const absl::Status& status) const;
  // Whether a page of another origin makes the request, and may make it.
  bool IsOfAllowedPage() const;
  std::string Header(std::string_view name) const;
  std::string TakeBody();

  HttpConnections& connections_;
  const Client& client_;
  Parser parser_;
  std::string host_;          // that the client asks; empty = none was sent
  std::string origin_;        // of the page that makes the request
  bool same_origin_ = false;  // it is a page of this server
  bool accepts_gzip_ = false;
  HttpRequest request_;
  const HttpCall* call_ = nullptr;
  std::unique_ptr<HttpBodyStream> body_stream_;
  bool body_begun_ = false;
  bool in_flight_ = false;  // counted by connections_.BeginCall
  bool has_place_ = false;  // counted in connections_.num_calls
  HeldShare place_;
  bool stream_begun_ = false;  // the body's stream has got a piece
  HeldShare body_share_;
  std::size_t num_head_bytes_ = 0;
  std::uint64_t num_body_bytes_ = 0;
  absl::Time admit_time_;
};

// Removes what may precede a request line (RFC 9112, section 2.2): empty lines,
// which some clients send after a body.
void SkipEmptyLines(std::string_view& input);

}  // namespace semrank

#endif  // SEMRANK_SERVER_HTTP_HTTP_EXCHANGE_H_
