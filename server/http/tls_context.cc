#include "server/http/tls_context.h"

#include <openssl/ssl.h>

#include <boost/asio/buffer.hpp>

#include "absl/strings/str_cat.h"

namespace semrank {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;

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

}  // namespace semrank
