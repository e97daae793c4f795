#include "server/http/http_exchange.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/beast/http/verb.hpp>
#include <limits>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "server/auth/caller_name.h"
#include "server/base/errors.h"
#include "server/base/request_identity.h"
#include "server/http/http_origins.h"
#include "server/http/http_responses.h"

namespace semrank {
namespace {

namespace http = boost::beast::http;

// A body's stream gets pieces of this size; the last one may be smaller.
constexpr std::size_t kPieceBytes = 262'144;

// A refused body up to this size is read and dropped, so that the connection
// stays: a new one costs both sides more, with TLS far more, and a server that
// refuses has least to spare.
constexpr std::uint64_t kMaxSkippedBytes = 262'144;

// Splits "http://host:1/path?x" into "host:1", "/path" and "x". Clients send
// such a target to a proxy, and a server must take it too, its host in place of
// the header's (RFC 9112, section 3.2.2). Any other target has no host.
struct Target {
  std::string host = {};
  std::string path = {};
  std::string query = {};
};
Target SplitTarget(std::string target) {
  const std::size_t mark = std::min(target.find('?'), target.size());
  const std::string query = target.substr(std::min(mark + 1, target.size()));
  target.resize(mark);
  for (const absl::string_view scheme : {"http://", "https://"}) {
    if (!absl::StartsWithIgnoreCase(target, scheme)) continue;
    const std::size_t end =
        std::min(target.find('/', scheme.size()), target.size());
    return {target.substr(scheme.size(), end - scheme.size()),
            end < target.size() ? target.substr(end) : "/", query};
  }
  return {.path = std::move(target), .query = query};
}

// What a body may reserve of what Content-Length claims.
constexpr std::uint64_t kMaxReservedBytes = 131'072;

// A step that runs `handler` in a thread of `workers`, where it may block.
template <typename Handler>
HttpExchange::RunHandler RunIn(boost::asio::thread_pool& workers,
                               Handler handler) {
  return [&workers, handler = std::move(handler)](absl::Duration,
                                                  HttpDone done) mutable {
    boost::asio::post(workers, [handler = std::move(handler),
                                done = std::move(done)]() mutable {
      std::move(done)(handler());
    });
  };
}

constexpr unsigned kHttp10 = 10;  // HTTP/1.0 as Beast counts

}  // namespace

void HttpBody::reader::init(
    const boost::optional<std::uint64_t>& content_length, ErrorCode& error) {
  error = {};
  body_.reserve(std::min(content_length.value_or(0), kMaxReservedBytes) +
                HttpBody::kPadding);
}

void HttpBody::reader::finish(ErrorCode& error) {
  error = {};
  body_.reserve(body_.size() + kPadding);
}

void SkipEmptyLines(std::string_view& input) {
  while (input.starts_with("\r\n")) input.remove_prefix(2);
}

// Beast parses one message with each parser.
HttpExchange::HttpExchange(HttpConnections& connections, const Client& client)
    : connections_(connections), client_(client) {
  parser_.header_limit(kMaxHeadBytes);
  // OnCall sets the call's. (Beast takes none for zero.)
  parser_.body_limit(std::numeric_limits<std::uint64_t>::max());
}

HttpExchange::Step HttpExchange::Parse(std::string_view& input) {
  if (!parser_.got_some()) {
    SkipEmptyLines(input);
    // Half of an empty line.
    if (input == "\r") return ReadMore();
  }
  while (!input.empty()) {
    boost::system::error_code error;
    const std::size_t num_parsed =
        parser_.put(boost::asio::buffer(input), error);
    input.remove_prefix(num_parsed);
    if (body_begun_) {
      num_body_bytes_ += num_parsed;
    } else if ((num_head_bytes_ += num_parsed) > kMaxHeadBytes) {
      // header_limit alone bounds only the bytes of one put.
      return OnMalformed(http::error::header_limit);
    }
    // A body needs more only within the lines between its chunks.
    if (error == http::error::need_more && input.size() < kMaxHeadBytes) break;
    if (error) return OnMalformed(error);
    if (!body_begun_) return OnHead();
    if (parser_.is_done()) return OnBody();
    if (body_stream_ != nullptr && parser_.get().body().size() >= kPieceBytes) {
      return TakePiece();
    }
  }
  return ReadMore();
}

HttpExchange::Step HttpExchange::OnMalformed(
    const boost::system::error_code& error) {
  const std::string reason = error.message();
  if (!body_begun_) {
    if (error != http::error::header_limit) return BadRequest(reason);
    return HttpResponse{
        .status = 431,
        .body = absl::StrFormat("the head is over the limit of %d bytes\n",
                                kMaxHeadBytes)};
  }
  if (error == http::error::body_limit) {
    return RefuseBody(413, BodyTooLarge(call_->max_body_bytes));
  }
  return RefuseBody(
      400, MakeError(absl::StatusCode::kInvalidArgument, kMalformedReason,
                     absl::StrCat("the body cannot be read: ", reason)));
}

std::string HttpExchange::Header(std::string_view name) const {
  return std::string(
      parser_.get()[boost::beast::string_view(name.data(), name.size())]);
}

// A proxy that ends TLS names the scheme. A page cannot: the browser asks first
// whether it may send the header, as for all that are not its own.
std::string HttpExchange::Scheme() const {
  if (connections_.options.tls != nullptr) return "https";
  const std::string forwarded = Header("X-Forwarded-Proto");
  return forwarded.empty() ? "http" : forwarded;
}

void HttpExchange::ReadHead() {
  Target target = SplitTarget(std::string(parser_.get().target()));
  origin_ = Header("Origin");
  host_ = target.host.empty() ? Header("Host") : std::move(target.host);
  same_origin_ = IsSameOrigin(origin_, Scheme(), host_);
  accepts_gzip_ = AcceptsGzip(Header("Accept-Encoding"));
  request_ = {
      .is_get = parser_.get().method() == http::verb::get,
      .path = std::move(target.path),
      .query = std::move(target.query),
      .authorization = Header("Authorization"),
      .request_id = Header(kRequestIdHeader),
      .traceparent = Header(kTraceparentHeader),
      .peer = client_.peer,
      .caller = CallerName(/*access=*/nullptr, "", client_.peer),
      // No header has the length of a chunked body.
      .content_length = parser_.content_length().value_or(0),
      .client_left = [&client = client_] { return client.has_left.load(); }};
}

HttpExchange::Step HttpExchange::OnHead() {
  ReadHead();
  // Beast takes other encodings for no body: what follows would be read as the
  // next request, whereas a proxy may have taken it for this one's body. Beast
  // undoes only the last one of several encodings. HTTP/1.0 has no encodings,
  // so a proxy may have read this body otherwise (RFC 9112, section 6.1).
  const auto encodings = parser_.get().count(http::field::transfer_encoding);
  if (encodings > 1 ||
      (encodings == 1 &&
       (parser_.get().version() <= kHttp10 ||
        !absl::EqualsIgnoreCase(Header("Transfer-Encoding"), "chunked")))) {
    parser_.get().keep_alive(false);
    return BadRequest("Transfer-Encoding must be chunked, in HTTP/1.1");
  }
  call_ = connections_.routes.FindCall(request_.path, request_.query);
  const HttpPage* const page = connections_.routes.FindPage(request_.path);
  std::optional<HttpResponse> refusal = RefuseByHost();
  if (refusal.has_value()) return *std::move(refusal);
  const http::verb method = parser_.get().method();
  // A preflight carries no key, so it is answered before the checks of a call.
  if (method == http::verb::options && (call_ != nullptr || page != nullptr) &&
      IsOfAllowedPage()) {
    return PreflightResponse();
  }
  if (call_ != nullptr) return OnCall();
  if (page == nullptr) return connections_.routes.NotFound();
  if (method != http::verb::get && method != http::verb::head) {
    return WrongMethod();
  }
  return RunIn(connections_.page_workers, *page);
}

HttpExchange::Step HttpExchange::OnCall() {
  // From the head on, so that a stop waits for a body that is still arriving.
  connections_.BeginCall();
  in_flight_ = true;
  std::optional<HttpResponse> refusal = RefuseByHead();
  if (refusal.has_value()) return *std::move(refusal);
  request_.caller = CallerName(connections_.options.access,
                               request_.authorization, client_.peer);
  refusal = call_->admit(request_);
  if (refusal.has_value()) return *std::move(refusal);
  admit_time_ = absl::Now();
  if (call_->open_stream) {
    body_stream_ = call_->open_stream(request_);
  } else {
    const auto max_bytes = static_cast<std::uint64_t>(call_->max_body_bytes);
    // Before 100 Continue, so a client that asks need not send the body at all.
    if (parser_.content_length().value_or(0) > max_bytes) {
      return RefuseBody(413, BodyTooLarge(call_->max_body_bytes));
    }
    parser_.body_limit(max_bytes);
  }
  body_begun_ = true;
  if (parser_.is_done()) return OnBody();
  return ReadBody{absl::EqualsIgnoreCase(Header("Expect"), "100-continue")};
}

std::optional<HttpResponse> HttpExchange::RefuseByHost() {
  // HTTP/1.0 has no Host; 1.1 requires it, with an absolute target too (RFC
  // 9112, section 3.2). A client that omits it may frame requests differently.
  if (parser_.get().version() > kHttp10 &&
      parser_.get().count(http::field::host) == 0) {
    parser_.get().keep_alive(false);
    return BadRequest("HTTP/1.1 requires a Host header");
  }
  // A proxy may have checked the one and the server the other.
  for (const http::field field : {http::field::host, http::field::origin}) {
    if (parser_.get().count(field) <= 1) continue;
    parser_.get().keep_alive(false);
    return BadRequest(
        absl::StrCat("more than one ", std::string(http::to_string(field))));
  }
  const absl::Status refusal =
      CheckHost(host_, connections_.options.served_hosts);
  if (refusal.ok()) return std::nullopt;
  WarnThrottled(absl::StrCat("HTTP: ", refusal.message()));
  if (call_ != nullptr) return Refuse({421, refusal});
  return HttpResponse{.status = 421,
                      .body = absl::StrCat(refusal.message(), "\n")};
}

std::optional<HttpResponse> HttpExchange::RefuseByHead() const {
  if (!call_->handle && !call_->open_stream)
    return Refuse(NoSuchCall(request_.path));
  // Before the method, because a browser asks by OPTIONS first.
  if (!origin_.empty() && !same_origin_ && !IsOfAllowedPage()) {
    const absl::Status refusal = OriginNotAllowed(Shown(origin_));
    // The browser shows neither the page nor its author what was answered.
    WarnThrottled(absl::StrCat("HTTP: ", refusal.message()));
    return Refuse({403, refusal});
  }
  if (parser_.get().method() != http::verb::post &&
      !(call_->takes_get && request_.is_get)) {
    const char* const methods = call_->takes_get ? "GET, POST" : "POST";
    HttpResponse response = Refuse(WrongCallMethod(methods));
    response.headers.emplace_back("Allow", methods);
    return response;
  }
  const std::string coding = Header("Content-Encoding");
  if (!coding.empty() && !absl::EqualsIgnoreCase(coding, "identity")) {
    HttpResponse response = Refuse(CompressedBody(coding));
    // RFC 9110, section 15.5.16: what would be taken.
    response.headers.emplace_back("Accept-Encoding", "identity");
    return response;
  }
  if (connections_.options.calls_need_certificate && !client_.has_certificate) {
    return Refuse(NoCertificate());
  }
  return std::nullopt;
}

std::string HttpExchange::TakeBody() {
  // The body leaves the parser, which would otherwise hold the memory for as
  // long as the handler runs.
  return std::exchange(parser_.get().body(), {});
}

// A client that sends its body slowly must not keep others from a place, so a
// call gets one when there is something to do.
absl::Status HttpExchange::TakePlace() {
  if (connections_.num_calls >= kMaxHttpCalls) return TooManyCalls();
  if (!place_.Take(connections_.places, request_.caller, 1)) {
    return connections_.places.OverShare(request_.caller, 1);
  }
  ++connections_.num_calls;
  has_place_ = true;
  return absl::OkStatus();
}

void HttpExchange::ReturnPlace() {
  place_.Reset();
  if (std::exchange(has_place_, false)) --connections_.num_calls;
}

bool HttpExchange::CountBody() {
  std::size_t num_bytes = parser_.get().body().size();
  if (body_stream_ != nullptr) num_bytes += body_stream_->pending_bytes();
  return body_share_.Take(connections_.unfinished_bytes, request_.caller,
                          static_cast<std::int64_t>(num_bytes));
}

HttpExchange::Step HttpExchange::OnBody() {
  if (body_stream_ != nullptr) return TakePiece();
  const absl::Status has_place = TakePlace();
  if (!has_place.ok()) return RefuseBody(429, has_place);
  request_.body = TakeBody();
  return RunHandler([this](absl::Duration max_time, HttpDone done) {
    call_->handle(request_, max_time, std::move(done));
  });
}

// A stream that has begun is not refused, since a part of it is done: its later
// pieces wait for a thread, and there are at most as many as connections.
HttpExchange::Step HttpExchange::TakePiece() {
  const absl::Status has_place = TakePlace();
  if (!has_place.ok() && !stream_begun_) return RefuseBody(429, has_place);
  stream_begun_ = true;
  return RunIn(connections_.stream_workers,
               [this, piece = TakeBody(), last = parser_.is_done()]() mutable {
                 return body_stream_->Take(std::move(piece), last);
               });
}

HttpResponse HttpExchange::RefuseBody(int http_code,
                                      const absl::Status& status) const {
  return Refuse(
      {http_code, status, /*admitted=*/true, absl::Now() - admit_time_});
}

HttpResponse HttpExchange::RefuseLateBody(std::uint64_t num_bytes) {
  const HttpServerOptions& options = connections_.options;
  return RefuseBody(408, BodyTooSlow(num_bytes, options.timeouts.body,
                                     options.min_body_rate));
}

HttpResponse HttpExchange::RefuseSlowBody() {
  const auto num_bytes = static_cast<std::int64_t>(parser_.get().body().size());
  const absl::Status refusal =
      connections_.unfinished_bytes.OverShare(request_.caller, num_bytes);
  // At once, since the client may take its time to read the response.
  TakeBody();
  body_stream_.reset();
  body_share_.Reset();
  return RefuseBody(429, refusal);
}

HttpResponse HttpExchange::RefuseBodyCutOff() {
  return RefuseBody(408, MakeError(absl::StatusCode::kCancelled, "CANCELLED",
                                   "the body ended early"));
}

bool HttpExchange::IsOfAllowedPage() const {
  return !origin_.empty() && !same_origin_ &&
         IsAllowedOrigin(origin_, connections_.options.cors_origins);
}

std::string HttpExchange::FinishResponse(bool keep_alive,
                                         HttpResponse& response) {
  ReturnPlace();
  if (IsOfAllowedPage()) AddCorsHeaders(origin_, response);
  std::string head = FormatHead(response, keep_alive);
  // HEAD has the headers of GET, so the page is made all the same.
  if (parser_.get().method() == http::verb::head) response.body.clear();
  return head;
}

// The unread rest of a body would be read as the next request. A client that
// waits for 100 Continue may send the body or not, so its next byte may mean
// either.
std::optional<std::uint64_t> HttpExchange::UnreadBytes() const {
  if (!parser_.is_header_done() || !parser_.get().keep_alive()) {
    return std::nullopt;
  }
  if (parser_.is_done()) return 0;
  if (body_begun_ || parser_.get().count(http::field::expect) > 0) {
    return std::nullopt;
  }
  const auto length = parser_.content_length();
  if (!length.has_value() || *length > kMaxSkippedBytes) return std::nullopt;
  return *length;
}

void HttpExchange::End() {
  ReturnPlace();
  body_share_.Reset();
  if (std::exchange(in_flight_, false)) connections_.EndCall();
}

}  // namespace semrank
