#include "server/http/http_connection.h"

#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/strings/str_format.h"
#include "server/auth/caller_name.h"
#include "server/http/http_responses.h"

namespace semrank {
namespace {

namespace asio = boost::asio;

// A connection is a state machine in the I/O thread: head, body, handler,
// response, and again. At any time it parses, or a handler runs, or a response
// is written. Reading continues beside all of them, because the end of the
// client shows nowhere else. A handler that continues in another thread posts
// its response back to the I/O thread. Every pending operation holds a
// shared_ptr, so the connection is destroyed after the last one. (No coroutine:
// REQUESTS.md, "HTTP".)

// How long one handler may keep the I/O thread. Two switches of threads cost
// 30 to 50 us; every other connection waits as long.
constexpr absl::Duration kMaxTimeHere = absl::Milliseconds(1);

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

HttpConnection::HttpConnection(HttpConnections& connections,
                               HttpStream::Socket socket, TlsContext tls)
    : connections_(connections),
      stream_(std::move(socket)),
      tls_(std::move(tls)),
      timer_(stream_.socket().get_executor()),
      client_{.peer = PeerOf(stream_.socket().native_handle())},
      address_(CallerName(/*access=*/nullptr, "", client_.peer)),
      account_("http " + client_.peer) {}

void HttpConnection::Start() {
  connections_.open.insert(shared_from_this());
  StartRequest();
  tls_ == nullptr ? Read() : DetectTls();
}

// A client that speaks plain HTTP to this port must get an answer in plain
// text, which the handshake would make impossible.
void HttpConnection::DetectTls() {
  stream_.DetectTls([self = shared_from_this()](const ErrorCode& failed,
                                                bool is_tls) {
    if (self->state_ == State::kClosed) return;
    if (failed) return self->Close();
    if (!is_tls) return self->OnOtherProtocol();
    self->stream_.StartTls(self->tls_, [self](const ErrorCode& error,
                                              std::size_t /*num_bytes*/) {
      if (self->state_ == State::kClosed) return;
      if (error) return self->Close();
      self->client_.has_certificate = self->stream_.has_client_certificate();
      self->Read();
    });
  });
}

void HttpConnection::OnOtherProtocol() {
  if (tls_ != nullptr) {
    WarnThrottled(absl::StrFormat(
        "HTTP: a client at %s does not speak TLS, as this port does (https://)",
        client_.peer));
    return Respond(BadRequest("this port speaks TLS: use https://"));
  }
  WarnThrottled(absl::StrFormat(
      "HTTP: a client at %s speaks TLS, this port plain text: it wants "
      "http://, or the server --tls_cert",
      client_.peer));
  // TLS libraries report an answer in plain text as a wrong version number,
  // where a bare end would look like a broken network.
  Respond(BadRequest("this port speaks plain text: use http://"));
}

void HttpConnection::AwaitClient(State state, absl::Duration timeout) {
  StopWaiting();
  state_ = state;
  // The first one in the list waits longest and is closed first to make room.
  waiting_ = connections_.waiting.insert(connections_.waiting.end(), this);
  // Bytes of a body's earlier pieces do not count for the next one.
  progress_ = state == State::kBody ? exchange_->num_body_bytes() : 0;
  AwaitDeadline(timeout);
}

void HttpConnection::AwaitDeadline(absl::Duration timeout) {
  deadline_ =
      std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(timeout);
  StartTimer();
}

// A running timer that expires before the deadline is kept and restarted when
// it expires. Each phase of a request has a deadline and hardly any is reached,
// so most phases set no timer.
void HttpConnection::StartTimer() {
  if (timed_ && timer_.expiry() <= deadline_) return;
  timed_ = true;
  timer_.expires_at(deadline_);
  timer_.async_wait([self = shared_from_this()](const ErrorCode& error) {
    if (!error) self->OnTimer();
  });
}

void HttpConnection::StopWaiting() {
  if (!waiting_.has_value()) return;
  connections_.waiting.erase(*waiting_);
  waiting_.reset();
}

void HttpConnection::OnTimer() {
  timed_ = false;
  if (!waiting_.has_value()) return;
  if (deadline_ > std::chrono::steady_clock::now()) return StartTimer();
  const std::uint64_t num_bytes = BytesOfPeriod();
  if (MadeProgress(num_bytes)) return;
  // Asio allows one write at a time, so no response can follow while 100
  // Continue is being sent.
  if (state_ != State::kBody || sending_continue_) return Close();
  Respond(exchange_->RefuseLateBody(num_bytes));
}

std::uint64_t HttpConnection::BytesOfPeriod() {
  const std::uint64_t now = state_ == State::kBody ? exchange_->num_body_bytes()
                                                   : stream_.num_written();
  return now - std::exchange(progress_, now);
}

// The connection keeps its place in the list: a client that is just fast enough
// is still the first to be closed to make room.
bool HttpConnection::MadeProgress(std::uint64_t num_bytes) {
  const HttpServerOptions& options = connections_.options;
  const bool is_body = state_ == State::kBody;
  if (!is_body && state_ != State::kResponse) return false;
  const absl::Duration period =
      is_body ? options.timeouts.body : options.timeouts.response;
  const double least = is_body ? static_cast<double>(options.min_body_rate) *
                                     absl::ToDoubleSeconds(period)
                               : 1;
  if (static_cast<double>(num_bytes) < least) return false;
  AwaitDeadline(period);
  return true;
}

void HttpConnection::Close() {
  // Erasing the connection below may drop the last reference to it.
  const auto self = shared_from_this();
  const State state = std::exchange(state_, State::kClosed);
  if (state == State::kClosed) return;
  client_.has_left = true;
  StopWaiting();
  timer_.cancel();
  CountUnread(0);
  stream_.Close();
  // Only counted and logged: nothing can be sent any more.
  if (state == State::kBody) exchange_->RefuseBodyCutOff();
  // A handler that runs still needs the request.
  if (state != State::kHandler) exchange_->End();
  connections_.open.erase(self);
}

void HttpConnection::Read() {
  // A client that sends far ahead is not read, so TCP stops it.
  if (reading_ || client_.has_left || input_.size() >= kMaxHeadBytes) return;
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
  if (std::exchange(idle_, false)) {
    AwaitClient(State::kHead, connections_.options.timeouts.head);
  }
  const std::string_view chunk(chunk_.data(), num_bytes);
  // After 100 Continue, the callback of that write parses what has come.
  const bool is_wanted =
      !sending_continue_ && (state_ == State::kHead || state_ == State::kBody);
  // Without a copy into input_.
  if (is_wanted && input_.empty()) return Parse(chunk);
  input_ += chunk;
  if (state_ == State::kSkip) return SkipBody();
  is_wanted ? Parse(input_) : Read();
}

// Clients usually end between requests. While a handler runs this only sets the
// flag, which the handler asks for.
void HttpConnection::OnClientEnded() {
  client_.has_left = true;
  if (state_ == State::kHead || state_ == State::kSkip) return Close();
  if (state_ != State::kBody) return;
  // Asio allows one write at a time.
  if (sending_continue_) return Close();
  Respond(exchange_->RefuseBodyCutOff());
}

void HttpConnection::StartRequest() {
  exchange_.emplace(connections_, client_);
  const HttpTimeouts& timeouts = connections_.options.timeouts;
  AwaitClient(State::kHead, idle_ ? timeouts.idle : timeouts.head);
}

void HttpConnection::Parse(std::string_view input) {
  HttpExchange::Step step = exchange_->Parse(input);
  if (auto* const body = std::get_if<HttpExchange::ReadBody>(&step)) {
    AwaitClient(State::kBody, connections_.options.timeouts.body);
    if (!body->send_continue) return Parse(input);
  }
  input_ = std::string(input);
  // The body of a refused call is about to be dropped. Counting it could end
  // another body, or refuse the call a second time.
  if (!std::holds_alternative<HttpResponse>(step)) {
    while (!exchange_->CountBody()) {
      if (!EndSlowestBody()) return;
    }
  }
  Do(std::move(step));
}

// Ends the body of this caller that has been arriving for the longest time:
// `waiting` is ordered by the start of the wait.
bool HttpConnection::EndSlowestBody() {
  for (HttpConnection* const other : connections_.waiting) {
    if (other->state_ == State::kBody &&
        other->exchange_->caller() == exchange_->caller()) {
      other->EndSlowBody();
      return other != this;
    }
  }
  EndSlowBody();
  return false;
}

void HttpConnection::EndSlowBody() {
  if (sending_continue_ || state_ != State::kBody) return Close();
  Respond(exchange_->RefuseSlowBody());
}

void HttpConnection::Do(HttpExchange::Step step) {
  if (auto* const response = std::get_if<HttpResponse>(&step)) {
    Respond(std::move(*response));
  } else if (auto* const run = std::get_if<HttpExchange::RunHandler>(&step)) {
    Run(std::move(*run));
  } else if (std::holds_alternative<HttpExchange::ReadBody>(step)) {
    SendContinue();
  } else {
    Read();
  }
}

void HttpConnection::SendContinue() {
  sending_continue_ = true;
  stream_.Write({asio::buffer(kContinue), asio::const_buffer()},
                [self = shared_from_this()](const ErrorCode& error,
                                            std::size_t /*num_bytes*/) {
                  self->sending_continue_ = false;
                  if (self->state_ == State::kClosed) return;
                  error ? self->Close() : self->Parse(self->input_);
                });
}

void HttpConnection::Run(HttpExchange::RunHandler run) {
  StopWaiting();
  state_ = State::kHandler;
  Read();
  // Behind the other connections that can be read: the handlers that these
  // start should not wait for this one.
  ++connections_.num_ready;
  connections_.BeginCall();
  asio::post(timer_.get_executor(),
             [self = shared_from_this(), run = std::move(run)]() mutable {
               self->StartHandler(std::move(run));
             });
}

// Only the last one of the handlers that are ready at once may keep this
// thread, so calls spread over the workers as soon as there are several. None
// does whose response is to be compressed, which takes milliseconds.
void HttpConnection::StartHandler(HttpExchange::RunHandler run) {
  const bool is_last = --connections_.num_ready == 0;
  const bool compress = exchange_->accepts_gzip();
  // Returns to the I/O thread with the reference too: sockets and timers are
  // not thread-safe, so the connection must not be destroyed in another.
  auto done = [self = shared_from_this(), &connections = connections_,
               compress](std::optional<HttpResponse> response) mutable {
    if (response.has_value() && compress) Compress(*response);
    const auto io = self->timer_.get_executor();
    asio::dispatch(
        io, [self = std::move(self), response = std::move(response)]() mutable {
          self->OnHandled(std::move(response));
        });
    // The server, and with it `io`, may be gone after this.
    connections.EndCall();
  };
  std::move(run)(is_last && !compress ? kMaxTimeHere : absl::ZeroDuration(),
                 std::move(done));
}

void HttpConnection::OnHandled(std::optional<HttpResponse> response) {
  if (state_ == State::kClosed) {
    // A body's stream has no response yet: the call is still to be counted.
    if (!response.has_value()) exchange_->RefuseBodyCutOff();
    return exchange_->End();
  }
  if (response.has_value()) return Respond(*std::move(response));
  exchange_->OnPieceTaken();
  AwaitClient(State::kBody, connections_.options.timeouts.body);
  // What the client sent before it ended may still be unparsed, but not more
  // than is read ahead: a body that has no end.
  client_.has_left ? OnClientEnded() : Parse(input_);
}

void HttpConnection::Respond(HttpResponse response) {
  unread_bytes_ = exchange_->UnreadBytes();
  if (client_.has_left) unread_bytes_.reset();
  response_head_ =
      exchange_->FinishResponse(unread_bytes_.has_value(), response);
  response_body_ = std::move(response.body);
  CountUnread(static_cast<std::int64_t>(response_body_.size()));
  AwaitClient(State::kResponse, connections_.options.timeouts.response);
  stream_.Write({asio::buffer(response_head_), asio::buffer(response_body_)},
                [self = shared_from_this()](const ErrorCode& error,
                                            std::size_t /*num_bytes*/) {
                  self->OnWritten(error);
                });
}

void HttpConnection::OnWritten(const ErrorCode& error) {
  exchange_->End();
  CountUnread(0);
  if (state_ == State::kClosed) return;
  if (error || client_.has_left) return Close();
  if (!unread_bytes_.has_value()) return Linger();
  if (*unread_bytes_ > 0) {
    AwaitClient(State::kSkip, connections_.options.timeouts.body);
  }
  SkipBody();
}

// The caller's name may be another for the next request.
void HttpConnection::CountUnread(std::int64_t bytes) {
  UnreadResponses* const unread = connections_.options.unread;
  if (unread == nullptr) return;
  if (num_unread_ == 0) {
    const std::string& caller = exchange_->caller();
    unread_caller_ = {caller.empty() ? address_ : caller, account_};
  }
  unread->Add(unread_caller_, bytes - std::exchange(num_unread_, bytes));
}

void HttpConnection::SkipBody() {
  const std::size_t num_bytes =
      std::min<std::uint64_t>(*unread_bytes_, input_.size());
  input_.erase(0, num_bytes);
  *unread_bytes_ -= num_bytes;
  if (*unread_bytes_ > 0) return Read();
  std::string_view rest = input_;
  SkipEmptyLines(rest);
  input_ = std::string(rest);
  idle_ = input_.empty();
  StartRequest();
  Parse(input_);
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
