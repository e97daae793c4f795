#include "server/http/http_connection.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "server/base/errors.h"
#include "server/http/http_compression.h"
#include "server/http/http_origins.h"
#include "server/http/http_responses.h"

namespace semrank {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

// A connection is a state machine in the I/O thread: head, body, handler,
// response, and again. At any time it parses, or a handler runs in the pool, or
// a response is written. Reading continues beside all of them, because the end
// of the client shows nowhere else. A handler posts its response back to the
// I/O thread. Every pending operation holds a shared_ptr, so the connection is
// destroyed after the last one.

// Also bounds what a client may send ahead of the responses.
constexpr std::uint32_t kMaxHeadBytes = 16'384;

// A body's stream gets pieces of this size; the last one may be smaller.
constexpr std::size_t kPieceBytes = 262'144;

// A refused body up to this size is read and dropped, so that the connection
// stays: a new one costs both sides more, with TLS far more, and a server that
// refuses has least to spare.
constexpr std::uint64_t kMaxSkippedBytes = 262'144;

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

HttpConnection::HttpConnection(HttpConnections& connections,
                               HttpStream::Socket socket, TlsContext tls)
    : connections_(connections),
      stream_(std::move(socket)),
      tls_(std::move(tls)),
      deadline_(stream_.socket().get_executor()) {}

void HttpConnection::Start() {
  connections_.open.insert(shared_from_this());
  StartRequest();
  if (tls_ == nullptr) return Read();
  // A client that speaks plain HTTP to this port must get an answer in plain
  // text, which the handshake would make impossible.
  stream_.DetectTls([self = shared_from_this()](const ErrorCode& failed,
                                                bool is_tls) {
    if (self->state_ == State::kClosed) return;
    if (failed) return self->Close();
    if (!is_tls) return self->OnOtherProtocol();
    self->stream_.StartTls(
        self->tls_, [self](const ErrorCode& error, std::size_t /*num_bytes*/) {
          if (self->state_ == State::kClosed) return;
          error ? self->Close() : self->Read();
        });
  });
}

void HttpConnection::AwaitClient(State state, absl::Duration timeout) {
  StopWaiting();
  state_ = state;
  // The first one in the list waits longest and is closed first to make room.
  waiting_ = connections_.waiting.insert(connections_.waiting.end(), this);
  deadline_.expires_after(absl::ToChronoNanoseconds(timeout));
  deadline_.async_wait([self = shared_from_this()](const ErrorCode& error) {
    if (!error) self->OnDeadline();
  });
}

void HttpConnection::StopWaiting() {
  if (!waiting_.has_value()) return;
  connections_.waiting.erase(*waiting_);
  waiting_.reset();
  deadline_.cancel();
}

void HttpConnection::OnDeadline() {
  // The phase may have ended after this was queued.
  if (!waiting_.has_value() ||
      deadline_.expiry() > std::chrono::steady_clock::now()) {
    return;
  }
  // Asio allows one write at a time, so no response can follow while 100
  // Continue is being sent.
  if (state_ != State::kBody || sending_continue_) return Close();
  const absl::Duration limit = connections_.options.timeouts.body;
  RespondLast(RefuseBody(408, BodyTooLate(limit)));
}

void HttpConnection::Close() {
  // Erasing the connection below may drop the last reference to it.
  const auto self = shared_from_this();
  const State state = std::exchange(state_, State::kClosed);
  if (state == State::kClosed) return;
  client_left_ = true;
  StopWaiting();
  stream_.Close();
  // Only counted and logged: nothing can be sent any more.
  if (state == State::kBody) RefuseBody(408, BodyCutOff());
  // A handler that runs still needs the request.
  if (state != State::kHandler) EndCall();
  connections_.open.erase(self);
}

// Beast parses one message with each parser.
void HttpConnection::StartRequest() {
  body_stream_.reset();
  parser_.emplace();
  parser_->header_limit(kMaxHeadBytes);
  // ReadBody sets the call's. (Beast takes none for zero.)
  parser_->body_limit(std::numeric_limits<std::uint64_t>::max());
  head_ = {};
  request_ = {};
  call_ = nullptr;
  const HttpTimeouts& timeouts = connections_.options.timeouts;
  AwaitClient(State::kHead, idle_ ? timeouts.idle : timeouts.head);
}

void HttpConnection::Read() {
  // A client that sends far ahead is not read, so TCP stops it.
  if (reading_ || client_left_ || input_.size() >= kMaxHeadBytes) return;
  reading_ = true;
  stream_.Read(asio::buffer(chunk_),
               [self = shared_from_this()](const ErrorCode& error,
                                           std::size_t num_bytes) {
                 self->OnRead(error, num_bytes);
               });
}

void HttpConnection::OnRead(const ErrorCode& error, std::size_t num_bytes) {
  reading_ = false;
  if (state_ == State::kClosed) return;
  // Linger cancelled the read so that the server can end its side.
  if (state_ == State::kLinger) return EndSending();
  if (error) return OnClientEnded();
  if (!std::exchange(has_read_, true) && tls_ == nullptr &&
      chunk_[0] == kTlsFirstByte) {
    return OnOtherProtocol();
  }
  input_.append(chunk_.data(), num_bytes);
  if (state_ == State::kSkip) return SkipBody();
  if (std::exchange(idle_, false)) {
    AwaitClient(State::kHead, connections_.options.timeouts.head);
  }
  if (state_ == State::kHead || state_ == State::kBody) {
    Parse();
  } else {
    Read();
  }
}

// Clients usually end between requests. While a handler runs this only sets the
// flag, which the handler asks for.
void HttpConnection::OnClientEnded() {
  client_left_ = true;
  if (state_ == State::kHead || state_ == State::kSkip) return Close();
  if (state_ == State::kBody) RespondLast(RefuseBody(408, BodyCutOff()));
}

void HttpConnection::OnOtherProtocol() {
  ErrorCode error;
  const std::string peer =
      stream_.socket().remote_endpoint(error).address().to_string();
  if (tls_ != nullptr) {
    WarnThrottled(absl::StrFormat(
        "HTTP: a client at %s does not speak TLS, as this port does (https://)",
        peer));
    return RespondLast(BadRequest("this port speaks TLS: use https://"));
  }
  WarnThrottled(absl::StrFormat(
      "HTTP: a client at %s speaks TLS, this port plain text: it wants "
      "http://, or the server --tls_cert",
      peer));
  // TLS libraries report an answer in plain text as a wrong version number,
  // where a bare end would look like a broken network.
  RespondLast(BadRequest("this port speaks plain text: use http://"));
}

void HttpConnection::Parse() {
  while (!input_.empty()) {
    ErrorCode error;
    const std::size_t num_parsed = parser_->put(asio::buffer(input_), error);
    input_.erase(0, num_parsed);
    // A body needs more only within the lines between its chunks.
    if (error == http::error::need_more && input_.size() < kMaxHeadBytes) break;
    if (error) return OnMalformed(error);
    if (state_ == State::kHead) return OnHead();
    if (parser_->is_done()) return OnBody();
    if (body_stream_ != nullptr &&
        parser_->get().body().size() >= kPieceBytes) {
      return TakePiece();
    }
  }
  Read();
}

void HttpConnection::OnMalformed(const ErrorCode& error) {
  const std::string reason = error.message();
  if (state_ == State::kHead) {
    if (error == http::error::header_limit) {
      return RespondLast(
          {.status = 431,
           .body = absl::StrFormat("the head is over the limit of %d bytes\n",
                                   kMaxHeadBytes)});
    }
    return RespondLast(BadRequest(reason));
  }
  if (error == http::error::body_limit) {
    return RespondLast(RefuseBody(413, BodyTooLarge(call_->max_body_bytes)));
  }
  RespondLast(RefuseBody(
      400, MakeError(absl::StatusCode::kInvalidArgument, kMalformedReason,
                     absl::StrCat("the body cannot be read: ", reason))));
}

void HttpConnection::OnHead() {
  // From the HTTP version and the Connection header.
  keep_alive_ = parser_->get().keep_alive();
  head_ = ReadHead(*parser_);
  request_ = MakeRequest(*parser_);
  request_.path = head_.path();
  // `this` lives as long as the handler that asks, which holds a shared_ptr.
  request_.client_left = [this] { return client_left_.load(); };
  if (HasUnreadableBody(*parser_)) {
    return RespondLast(BadRequest("Transfer-Encoding is not chunked"));
  }
  call_ = connections_.routes.FindCall(head_.path());
  const HttpPage* const page = connections_.routes.FindPage(head_.path());
  // A preflight carries no key, so it is answered before the checks of a call.
  if (head_.method == http::verb::options &&
      (call_ != nullptr || page != nullptr) &&
      head_.IsOfAllowedPage(connections_.options)) {
    return Respond(PreflightResponse());
  }
  if (call_ != nullptr) return OnCall();
  if (page == nullptr) return Respond(connections_.routes.NotFound());
  if (head_.method != http::verb::get && head_.method != http::verb::head) {
    return Respond(WrongMethod());
  }
  Run(connections_.page_workers, *page);
}

void HttpConnection::OnCall() {
  // From the head on, so that a stop waits for a body that is still arriving.
  connections_.BeginCall();
  in_flight_ = true;
  std::optional<HttpResponse> refusal =
      RefuseByHead(*call_, head_, request_, connections_.options,
                   stream_.has_client_certificate());
  if (refusal.has_value()) return Respond(*std::move(refusal));
  if (connections_.num_calls >= kMaxHttpCalls) {
    return Respond(call_->refuse(request_, TooManyCalls()));
  }
  ++connections_.num_calls;
  has_place_ = true;
  refusal = call_->admit(request_);
  if (refusal.has_value()) return Respond(*std::move(refusal));
  admit_time_ = absl::Now();
  ReadBody();
}

void HttpConnection::ReadBody() {
  if (call_->open_stream) {
    body_stream_ = call_->open_stream(request_);
  } else {
    const auto max_bytes = static_cast<std::uint64_t>(call_->max_body_bytes);
    // Before 100 Continue, so a client that asks need not send the body at all.
    if (parser_->content_length().value_or(0) > max_bytes) {
      return Respond(RefuseBody(413, BodyTooLarge(call_->max_body_bytes)));
    }
    parser_->body_limit(max_bytes);
  }
  if (parser_->is_done()) return OnBody();
  AwaitClient(State::kBody, connections_.options.timeouts.body);
  if (!head_.expects_continue) return Parse();
  sending_continue_ = true;
  stream_.Write({asio::buffer(kContinue), asio::const_buffer()},
                [self = shared_from_this()](const ErrorCode& error,
                                            std::size_t /*num_bytes*/) {
                  self->sending_continue_ = false;
                  if (self->state_ == State::kClosed) return;
                  error ? self->Close() : self->Parse();
                });
}

std::string HttpConnection::TakeBody() {
  // The body leaves the parser, which would otherwise hold the memory for as
  // long as the handler runs.
  const auto body = std::exchange(parser_->get().body(), {});
  return boost::beast::buffers_to_string(body.data());
}

void HttpConnection::OnBody() {
  if (body_stream_ != nullptr) return TakePiece();
  request_.body = TakeBody();
  Run(connections_.workers, [this] { return call_->handle(request_); });
}

void HttpConnection::TakePiece() {
  Run(connections_.workers,
      [this, piece = TakeBody(), last = parser_->is_done()]() mutable {
        return body_stream_->Take(std::move(piece), last);
      });
}

HttpResponse HttpConnection::RefuseBody(int http_code,
                                        const absl::Status& status) {
  return call_->refuse(request_, {http_code, status, /*admitted=*/true,
                                  absl::Now() - admit_time_});
}

void HttpConnection::Run(asio::thread_pool& workers, Handler handler) {
  StopWaiting();
  state_ = State::kHandler;
  Read();
  asio::post(workers, [self = shared_from_this(),
                       handler = std::move(handler)]() mutable {
    std::optional<HttpResponse> response = handler();
    if (response.has_value() && self->head_.accepts_gzip) Compress(*response);
    // Back to the I/O thread with the reference too: sockets and timers are not
    // thread-safe, so the connection must not be destroyed here.
    const auto io = self->deadline_.get_executor();
    asio::post(
        io, [self = std::move(self), response = std::move(response)]() mutable {
          self->OnHandled(std::move(response));
        });
  });
}

void HttpConnection::OnHandled(std::optional<HttpResponse> response) {
  if (state_ == State::kClosed) {
    // A body's stream has no response yet: the call is still to be counted.
    if (!response.has_value()) RefuseBody(408, BodyCutOff());
    return EndCall();
  }
  if (response.has_value()) return Respond(*std::move(response));
  AwaitClient(State::kBody, connections_.options.timeouts.body);
  // What the client sent before it ended may still be unparsed, but not more
  // than is read ahead: a body that has no end.
  if (client_left_) return OnClientEnded();
  Parse();
}

void HttpConnection::RespondLast(HttpResponse response) {
  keep_alive_ = false;
  Respond(std::move(response));
}

void HttpConnection::Respond(HttpResponse response) {
  const std::optional<std::uint64_t> unread_bytes = UnreadBytes();
  keep_alive_ = keep_alive_ && unread_bytes.has_value() && !client_left_;
  unread_bytes_ = unread_bytes.value_or(0);
  if (std::exchange(has_place_, false)) --connections_.num_calls;
  if (head_.IsOfAllowedPage(connections_.options)) {
    AddCorsHeaders(head_.origin, response);
  }
  AwaitClient(State::kResponse, connections_.options.timeouts.response);
  response_head_ = FormatHead(response, keep_alive_);
  response_body_ = std::move(response.body);
  // HEAD has the headers of GET, so the page is made all the same.
  const bool with_body = parser_->get().method() != http::verb::head;
  stream_.Write(
      {asio::buffer(response_head_),
       with_body ? asio::buffer(response_body_) : asio::const_buffer()},
      [self = shared_from_this()](const ErrorCode& error,
                                  std::size_t /*num_bytes*/) {
        self->OnWritten(error);
      });
}

// The unread rest of a body would be read as the next request. A client that
// waits for 100 Continue may send the body or not, so its next byte may mean
// either.
std::optional<std::uint64_t> HttpConnection::UnreadBytes() const {
  if (parser_->is_done()) return 0;
  if (state_ != State::kHead || !parser_->is_header_done() ||
      parser_->get().count(http::field::expect) > 0) {
    return std::nullopt;
  }
  const auto length = parser_->content_length();
  if (!length.has_value() || *length > kMaxSkippedBytes) return std::nullopt;
  return *length;
}

void HttpConnection::OnWritten(const ErrorCode& error) {
  EndCall();
  if (state_ == State::kClosed) return;
  if (error || client_left_) return Close();
  if (!keep_alive_) return Linger();
  if (unread_bytes_ > 0) {
    AwaitClient(State::kSkip, connections_.options.timeouts.body);
  }
  SkipBody();
}

void HttpConnection::SkipBody() {
  const std::size_t num_bytes =
      std::min<std::uint64_t>(unread_bytes_, input_.size());
  input_.erase(0, num_bytes);
  unread_bytes_ -= num_bytes;
  if (unread_bytes_ > 0) return Read();
  idle_ = input_.empty();
  StartRequest();
  Parse();
}

void HttpConnection::EndCall() {
  if (std::exchange(has_place_, false)) --connections_.num_calls;
  if (std::exchange(in_flight_, false)) connections_.EndCall();
}

// Closing a socket with unread bytes makes the kernel send a reset, which may
// overtake the response. So the server ends its own side and reads until the
// client closes (RFC 9112, section 9.6).
void HttpConnection::Linger() {
  AwaitClient(State::kLinger, connections_.options.timeouts.linger);
  if (!reading_) return EndSending();
  // OnRead continues.
  ErrorCode error;
  stream_.socket().cancel(error);
}

void HttpConnection::EndSending() {
  stream_.EndSending([self = shared_from_this()](const ErrorCode& /*error*/,
                                                 std::size_t /*num_bytes*/) {
    self->Discard();
  });
}

void HttpConnection::Discard() {
  if (state_ == State::kClosed) return;
  stream_.socket().async_read_some(
      asio::buffer(chunk_),
      [self = shared_from_this()](const ErrorCode& error,
                                  std::size_t /*num_bytes*/) {
        error ? self->Close() : self->Discard();
      });
}

}  // namespace semrank
