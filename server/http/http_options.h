// Bounds and deadlines of the HTTP server. Tests shrink them.
#ifndef SEMRANK_SERVER_HTTP_HTTP_OPTIONS_H_
#define SEMRANK_SERVER_HTTP_HTTP_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "server/auth/tls_files.h"
#include "server/base/connection_count.h"
#include "server/base/limits.h"
#include "server/base/unread_responses.h"

namespace semrank {

class AccessControl;

// The calls at once that one client can rely on when the shares of callers are
// as they are by default.
inline constexpr int kMaxHttpCallsPerCaller = kMaxHttpCalls / 2;

// Each deadline counts from the beginning of its phase, however the client
// spreads its bytes, unless it says otherwise.
struct HttpTimeouts {
  absl::Duration head = absl::Seconds(10);  // TLS handshake and request head
  // A body must bring min_body_rate in each period of this length.
  absl::Duration body = absl::Seconds(10);
  // The client must read something of the response in each such period.
  absl::Duration response = kSendTimeout;
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
  // Names that Host may have; "*" = every one (http_origins).
  std::vector<std::string> served_hosts = {"*"};
  // The most connections at once. A further one closes the one that has kept
  // the server waiting longest, among those of the address that has most.
  int max_connections = kMaxHttpConnections;
  HttpTimeouts timeouts = {};
  // Bytes a second.
  std::int64_t min_body_rate = kMinBodyRate;
  // Bytes of bodies that have not arrived completely, over all connections.
  std::int64_t max_unfinished_bytes = std::int64_t{192} << 20;
  // The share of one caller in the calls and in those bytes (FairShare); in the
  // bytes at most kMaxShareOfUnfinished (http_connections.h).
  double max_share_per_caller = 1;
  // Null = callers need no key, and have the names of their addresses.
  const AccessControl* access = nullptr;
  // Counts responses that clients have not read; null = they do not count. Must
  // outlive the server.
  UnreadResponses* unread = nullptr;
  // Counts connections closed at the limit; null = they do not count. Must
  // outlive the server.
  ConnectionCount* connections = nullptr;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_HTTP_HTTP_OPTIONS_H_
