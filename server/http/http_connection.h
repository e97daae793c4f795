// One client's connection: reads requests one after the other, runs their
// handlers and writes the responses. Each phase that waits for the client has a
// deadline.
//
//   Threads  one I/O thread runs everything here but the handlers.
#ifndef SEMRANK_SERVER_HTTP_HTTP_CONNECTION_H_
#define SEMRANK_SERVER_HTTP_HTTP_CONNECTION_H_

#include <array>
#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "server/http/http_connections.h"
#include "server/http/http_routes.h"
#include "server/http/http_stream.h"
#include "server/http/request_head.h"

namespace semrank {

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  // `tls` null = plain text. `connections` must outlive this.
  HttpConnection(HttpConnections& connections, HttpStream::Socket socket,
                 TlsContext tls);

  void Start();
  // Closes at once; the response of a handler that runs is dropped.
  void Close();

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
  void OnDeadline();

  // Reads on, also while a handler runs: only the end of the input shows that
  // the client has left.
  void Read();
  void OnRead(const ErrorCode& error, std::size_t num_bytes);
  void OnClientEnded();
  // Informs a client that speaks TLS to a plain port, or the reverse, and logs
  // it.
  void OnOtherProtocol();
  void Parse();
  void OnMalformed(const ErrorCode& error);
  void OnHead();
  void OnCall();
  void ReadBody();
  void OnBody();
  // Passes the bytes of the body that have arrived to its stream.
  void TakePiece();
  std::string TakeBody();
  // Returns the response to a body that is not accepted; counts the admitted
  // call.
  HttpResponse RefuseBody(int http_code, const absl::Status& status);

  // No response = more of the body is wanted.
  using Handler = std::function<std::optional<HttpResponse>()>;
  void Run(boost::asio::thread_pool& workers, Handler handler);
  void OnHandled(std::optional<HttpResponse> response);
  void Respond(HttpResponse response);
  void RespondLast(HttpResponse response);
  // How much of the current body must still be read so that the next request
  // can follow; nullopt = the connection must end.
  std::optional<std::uint64_t> UnreadBytes() const;
  void OnWritten(const ErrorCode& error);
  void SkipBody();
  // Makes the parser ready for the next head.
  void StartRequest();
  void EndCall();
  void Linger();
  void EndSending();
  void Discard();

  HttpConnections& connections_;
  HttpStream stream_;
  const TlsContext tls_;
  boost::asio::steady_timer deadline_;
  State state_ = State::kHead;
  // Its place among connections_.waiting.
  std::optional<std::list<HttpConnection*>::iterator> waiting_;

  std::array<char, 16'384> chunk_;  // of the read that is pending
  bool reading_ = false;
  bool has_read_ = false;
  bool sending_continue_ = false;
  std::string input_;                      // read, not parsed yet
  std::atomic<bool> client_left_ = false;  // handlers read it

  // The current request. Each needs a parser of its own.
  std::optional<HttpRequestParser> parser_;
  RequestHead head_;
  HttpRequest request_;
  const HttpCall* call_ = nullptr;
  std::unique_ptr<HttpBodyStream> body_stream_;
  bool idle_ = false;  // no byte of the request has come
  bool keep_alive_ = false;
  std::uint64_t unread_bytes_ = 0;  // of a refused body
  bool in_flight_ = false;          // counted by connections_.BeginCall
  bool has_place_ = false;          // counted in connections_.num_calls
  absl::Time admit_time_;
  std::string response_head_;
  std::string response_body_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_HTTP_HTTP_CONNECTION_H_
