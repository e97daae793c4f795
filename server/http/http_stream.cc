#include "server/http/http_stream.h"

#include <openssl/ssl.h>

#include <boost/asio/write.hpp>

#include "absl/strings/str_cat.h"

namespace semrank {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;

namespace {

// A client that reads shows progress after each part.
constexpr std::size_t kMaxWriteBytes = 262'144;

}  // namespace

absl::StatusOr<TlsContext> MakeTlsContext(const TlsContent& content) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  SSL_CTX* const handle = context->native_handle();
  // Older versions are deprecated (RFC 8996), and gRPC offers none of them
  // either.
  SSL_CTX_set_min_proto_version(handle, TLS1_2_VERSION);
  // A resumed session would not verify its client against a new CA.
  SSL_CTX_set_session_cache_mode(handle, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(handle, SSL_OP_NO_TICKET);
  boost::system::error_code error;
  context->use_certificate_chain(asio::buffer(content.cert), error);
  if (!error) {
    context->use_private_key(asio::buffer(content.key), ssl::context::pem,
                             error);
  }
  if (!error && !content.client_ca.empty()) {
    context->add_certificate_authority(asio::buffer(content.client_ca), error);
    if (!error) context->set_verify_mode(ssl::verify_peer, error);
  }
  if (!error) return context;
  return absl::InvalidArgumentError(
      absl::StrCat("OpenSSL refuses the certificates: ", error.message()));
}

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
  num_written_ = 0;
  // Asio asks before each part how many bytes the next one may have.
  const auto next_part = [this](const ErrorCode& error,
                                std::size_t num_written) -> std::size_t {
    num_written_ = num_written;
    return error ? 0 : kMaxWriteBytes;
  };
  if (tls_.has_value()) {
    asio::async_write(*tls_, buffers, next_part, std::move(done));
  } else {
    asio::async_write(socket_, buffers, next_part, std::move(done));
  }
}

void HttpStream::EndSending(Done done) {
  const auto end = [this, done = std::move(done)](const ErrorCode& /*error*/) {
    ErrorCode error;
    socket_.shutdown(Socket::shutdown_send, error);
    done(error, 0);
  };
  if (tls_.has_value()) {
    // This also waits for the client's side to end. The deadline of the phase
    // bounds the wait.
    tls_->async_shutdown(end);
  } else {
    end({});
  }
}

// Operations that are pending end with an error, and their handlers find the
// connection closed.
void HttpStream::Close() {
  ErrorCode error;
  socket_.close(error);
}

}  // namespace semrank
