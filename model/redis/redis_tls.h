// TLS of connections to Redis. hiredis 0.14 has none of its own, so OpenSSL
// speaks through the sockets that hiredis opens.
#ifndef SEMRANK_MODEL_REDIS_REDIS_TLS_H_
#define SEMRANK_MODEL_REDIS_REDIS_TLS_H_

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "model/base/mutex.h"
#include "model/base/watched_files.h"

namespace semrank {

// Paths of PEM files.
struct RedisTlsFiles {
  std::string ca = {};    // empty = the authorities that the system trusts
  std::string cert = {};  // the client's certificate; empty = none
  std::string key = {};   // its private key
};

struct FreeSsl {
  void operator()(SSL* session) const { SSL_free(session); }
};
using TlsSession = std::unique_ptr<SSL, FreeSsl>;

// Makes the sessions of connections. Files that were replaced count for the
// next connection; while new ones cannot be used, the old ones stay.
//
//   Errors   InvalidArgument, or the error of the file; both name the file.
//   Threads  thread-safe.
class RedisTls {
 public:
  explicit RedisTls(const RedisTlsFiles& files);

  // A session over a connected socket. Its handshake verifies that the
  // certificate is valid for `host`, a name or an IP address.
  absl::StatusOr<TlsSession> NewSession(int socket, const std::string& host);

 private:
  using Context = std::shared_ptr<SSL_CTX>;

  static absl::StatusOr<Context> ReadFiles(const RedisTlsFiles& files);

  Mutex refresh_mutex_;
  WatchedFiles<Context> context_;
};

// The reason for a failed operation of `session`, and of its certificate if
// that is the reason.
std::string TlsErrorText(const SSL& session);

}  // namespace semrank

#endif  // SEMRANK_MODEL_REDIS_REDIS_TLS_H_
