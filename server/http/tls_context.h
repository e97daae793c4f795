// OpenSSL's settings for the server's side of TLS, made from certificate files.
#ifndef SEMRANK_SERVER_HTTP_TLS_CONTEXT_H_
#define SEMRANK_SERVER_HTTP_TLS_CONTEXT_H_

#include <boost/asio/ssl/context.hpp>
#include <memory>

#include "absl/status/statusor.h"
#include "server/auth/tls_files.h"

namespace semrank {

// A connection keeps the context it began with while new ones get another.
using TlsContext = std::shared_ptr<boost::asio::ssl::context>;

// TLS 1.2 and later. With a client CA, clients may present a certificate, which
// must then be valid. InvalidArgument when OpenSSL cannot use the content.
absl::StatusOr<TlsContext> MakeTlsContext(const TlsContent& content);

}  // namespace semrank

#endif  // SEMRANK_SERVER_HTTP_TLS_CONTEXT_H_
