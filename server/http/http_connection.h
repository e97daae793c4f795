// One client's connection: reads requests one after the other, runs their
// handlers and writes the responses. Each phase that waits for the client has a
// deadline. What the bytes mean is decided by HttpExchange.
//
//   Threads  one I/O thread runs everything here and begins the handlers, which
//            may continue elsewhere.
#ifndef SEMRANK_SERVER_HTTP_HTTP_CONNECTION_H_
#define SEMRANK_SERVER_HTTP_HTTP_CONNECTION_H_

#include <array>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "server/base/caller.h"
#include "server/http/http_connections.h"
#include "server/http/http_exchange.h"
#include "server/http/http_stream.h"

namespace semrank {

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  // `tls` null = plain text. `connections` must outlive this.
  HttpConnection(HttpConnections& connections, HttpStream::Socket socket,
                 TlsContext tls);

  void Start();
  // Closes at once; the response of a handler that runs is dropped.
  void Close();

  // The client's address without the port.
  const std::string& address() const { return address_; }
  // The name of the connection in HttpServerOptions::unread.
  const std::string& account() const { return account_; }

 private:
  using ErrorCode = HttpStream::ErrorCode;
  enum class State {
    kHead,      // the client is to send the TLS handshake and a head,
    kBody,      // a body,
    kHandler,   // the client waits for us,
    kResponse,  // it is to read the response,
    kSkip,      // to send the rest of a refused body,
    kLinger,    // or to close
    kClosed,
  };

  // Enters a phase in which the server waits for the client.
  void AwaitClient(State state, absl::Duration timeout);
  void StopWaiting();
  void AwaitDeadline(absl::Duration timeout);
  void StartTimer();
  void OnTimer();
  // Bytes that the client sent or read since the last call. Each call begins
  // the next period.
  std::uint64_t BytesOfPeriod();
  // Whether they are enough; then it also sets the next deadline.
  bool MadeProgress(std::uint64_t num_bytes);

  void DetectTls();
  // Informs a client that speaks TLS to a plain port, or the reverse, and logs
  // it.
  void OnOtherProtocol();
  // Reads on, also while a handler runs: only the end of the input shows that
  // the client has left.
  void Read();
  void OnRead(const ErrorCode& error, std::size_t num_bytes);
  void OnClientEnded();

  void StartRequest();
  // Parses the beginning of `input`, does what follows from it, and keeps the
  // rest as input_.
  void Parse(std::string_view input);
  // Ends the body of the same caller that has been arriving for longest.
  // Returns false if it was that of this connection.
  bool EndSlowestBody();
  void EndSlowBody();
  void Do(HttpExchange::Step step);
  void SendContinue();
  void Run(HttpExchange::RunHandler run);
  void StartHandler(HttpExchange::RunHandler run);
  void OnHandled(std::optional<HttpResponse> response);
  void Respond(HttpResponse response);
  void OnWritten(const ErrorCode& error);
  void SkipBody();
  // Counts the bytes of the response that the client has not read.
  void CountUnread(std::int64_t bytes);

  void Linger();
  void EndSending();
  void Discard();

  HttpConnections& connections_;
  HttpStream stream_;
  const TlsContext tls_;
  boost::asio::steady_timer timer_;
  bool timed_ = false;  // timer_ is running
  // When the phase ends that waits for the client; timer_ may expire earlier.
  std::chrono::steady_clock::time_point deadline_;
  State state_ = State::kHead;
  // Its place among connections_.waiting.
  std::optional<std::list<HttpConnection*>::iterator> waiting_;

  std::array<char, 65'536> chunk_;  // of the read that is pending
  bool reading_ = false;
  bool has_read_ = false;
  bool sending_continue_ = false;
  std::string input_;  // read, not parsed yet
  bool idle_ = false;  // no byte of the request has come

  HttpExchange::Client client_;
  const std::string address_;
  const std::string account_;
  CallerId unread_caller_;
  std::int64_t num_unread_ = 0;
  std::uint64_t progress_ = 0;  // bytes of the phase at the last deadline
  std::optional<HttpExchange> exchange_;  // the current request
  // How much of a refused body is to be skipped after the response; nullopt =
  // the response is the last.
  std::optional<std::uint64_t> unread_bytes_;
  std::string response_head_;
  std::string response_body_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_HTTP_HTTP_CONNECTION_H_
