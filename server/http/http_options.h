// Bounds and deadlines of the HTTP server. Tests shrink them.
#ifndef SEMRANK_SERVER_HTTP_HTTP_OPTIONS_H_
#define SEMRANK_SERVER_HTTP_HTTP_OPTIONS_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "server/auth/tls_files.h"

namespace semrank {

// The most calls at once; further ones are 429.
inline constexpr int kMaxHttpCalls = 24;

// Each deadline counts from the beginning of its phase, however the client
// spreads its bytes.
struct HttpTimeouts {
  absl::Duration head = absl::Seconds(10);  // TLS handshake and request head
  // For a body that is read piece by piece, the time of each piece.
  absl::Duration body = absl::Seconds(10);
  absl::Duration response = absl::Seconds(30);
  absl::Duration idle = absl::Seconds(60);  // between two requests
  // After its last response the server reads on for this long: if it closed
  // while bytes arrive, the client might never see the response.
  absl::Duration linger = absl::Seconds(1);
};

struct HttpServerOptions {
  // Null = plain text. Must outlive the server.
  const TlsCertificates* tls = nullptr;
  // Calls (not pages) are 403 unless the client presented a certificate.
  bool calls_need_certificate = false;
  // Origins of web pages that may make calls, beside the server's own pages
  // (http_origins).
  std::vector<std::string> cors_origins = {};
  // Names that Host may have; "*" = every one (http_hosts).
  std::vector<std::string> served_hosts = {"*"};
  // The most connections at once. A further one closes the one that has kept
  // the server waiting longest.
  int max_connections = 192;
  HttpTimeouts timeouts = {};
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_HTTP_HTTP_OPTIONS_H_
