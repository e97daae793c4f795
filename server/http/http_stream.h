// One TCP connection of the HTTP server, in plain text or, after StartTls, in
// TLS.
//
//   Order    at most one read and one write at a time, and neither beside
//            StartTls or EndSending.
//   Threads  the thread of the socket's executor, where completions run too.
#ifndef SEMRANK_SERVER_HTTP_HTTP_STREAM_H_
#define SEMRANK_SERVER_HTTP_HTTP_STREAM_H_

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "server/auth/tls_files.h"

namespace semrank {

// A connection keeps the context it began with while new ones get another.
using TlsContext = std::shared_ptr<boost::asio::ssl::context>;

// TLS 1.2 and later. With a client CA, clients may present a certificate, which
// must then be valid. InvalidArgument when OpenSSL cannot use the content.
absl::StatusOr<TlsContext> MakeTlsContext(const TlsContent& content);

// The first byte of a TLS handshake; no HTTP request begins with it.
inline constexpr char kTlsFirstByte = 0x16;

class HttpStream {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using ErrorCode = boost::system::error_code;
  // Gets the number of bytes that were read or written.
  using Done = std::function<void(const ErrorCode&, std::size_t)>;

  explicit HttpStream(Socket socket) : socket_(std::move(socket)) {}

  Socket& socket() { return socket_; }
  // Waits for the client's first byte and peeks whether it begins TLS. An error
  // when the client ends before it.
  void DetectTls(std::function<void(const ErrorCode&, bool is_tls)> done);
  void StartTls(TlsContext context, Done done);
  bool has_client_certificate();

  void Read(boost::asio::mutable_buffer into, Done done);
  // Writes all of both, in parts.
  void Write(const std::array<boost::asio::const_buffer, 2>& buffers,
             Done done);
  // Bytes of the last Write that the system has taken so far.
  std::size_t num_written() const { return num_written_; }
  // Informs the client, in TLS too, that the server sends no more.
  void EndSending(Done done);
  // Frees the descriptor; operations that are pending fail.
  void Close();

 private:
  Socket socket_;
  TlsContext context_;
  std::optional<boost::asio::ssl::stream<Socket&>> tls_;
  std::size_t num_written_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_HTTP_HTTP_STREAM_H_
