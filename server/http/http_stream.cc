#include "server/http/http_stream.h"

#include <openssl/ssl.h>

#include <boost/asio/write.hpp>

namespace semrank {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;

// Peeking leaves the byte there, and a client that speaks plain HTTP gets an
// explanation instead of a reset.
void HttpStream::DetectTls(
    std::function<void(const ErrorCode&, bool is_tls)> done) {
  // The wait does not read, since the handshake needs every byte.
  socket_.async_wait(Socket::wait_read, [this, done = std::move(done)](
                                            const ErrorCode& /*error*/) {
    char first = 0;
    ErrorCode error;
    socket_.receive(asio::buffer(&first, 1), Socket::message_peek, error);
    done(error, first == kTlsFirstByte);
  });
}

// The context is kept, since new certificates replace it for later connections.
void HttpStream::StartTls(TlsContext context, Done done) {
  context_ = std::move(context);
  tls_.emplace(socket_, *context_);
  // Reports no number of bytes, which Done takes.
  tls_->async_handshake(
      ssl::stream_base::server,
      [done = std::move(done)](const ErrorCode& error) { done(error, 0); });
}

bool HttpStream::has_client_certificate() {
  return tls_.has_value() &&
         SSL_get0_peer_certificate(tls_->native_handle()) != nullptr;
}

void HttpStream::Read(asio::mutable_buffer into, Done done) {
  if (tls_.has_value()) {
    tls_->async_read_some(into, std::move(done));
  } else {
    socket_.async_read_some(into, std::move(done));
  }
}

void HttpStream::Write(const std::array<asio::const_buffer, 2>& buffers,
                       Done done) {
  if (tls_.has_value()) {
    asio::async_write(*tls_, buffers, std::move(done));
  } else {
    asio::async_write(socket_, buffers, std::move(done));
  }
}

void HttpStream::EndSending(Done done) {
  const auto end = [this, done = std::move(done)](const ErrorCode& /*error*/) {
    ErrorCode error;
    socket_.shutdown(Socket::shutdown_send, error);
    done(error, 0);
  };
  if (tls_.has_value()) {
    // This also waits for the client's side to end.
    tls_->async_shutdown(end);
  } else {
    end({});
  }
}

void HttpStream::Close() {
  ErrorCode error;
  socket_.close(error);
}

}  // namespace semrank
