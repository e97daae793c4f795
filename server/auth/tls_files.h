// The server's certificate, its key and the client authorities, read from files
// and checked before anything uses them.
//
//   Errors   InvalidArgument, or the error of the file; both name the file. No
//            message contains any part of a key.
#ifndef SEMRANK_SERVER_AUTH_TLS_FILES_H_
#define SEMRANK_SERVER_AUTH_TLS_FILES_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "model/base/watched_files.h"

namespace semrank {

// Paths of PEM files.
struct TlsFiles {
  std::string cert = {};       // the certificate, then its intermediates
  std::string key = {};        // the certificate's private key
  std::string client_ca = {};  // CAs of client certificates; empty = none asked
};

// Contents of the files.
struct TlsContent {
  std::string cert = {};
  std::string key = {};
  std::string client_ca = {};
  absl::Time cert_expiry = {};  // notAfter of the first certificate
};

// Reads all files. The key must be that of the first certificate, so a pair
// that is being replaced is never taken half old, half new.
absl::StatusOr<TlsContent> ReadTlsFiles(const TlsFiles& files);

// Certificates that follow their files: listeners use current() for each new
// connection.
class TlsCertificates : public WatchedFiles<TlsContent> {
 public:
  // Returns the error of ReadTlsFiles. current() of the result is never null.
  static absl::StatusOr<std::unique_ptr<TlsCertificates>> FromFiles(
      const TlsFiles& files);

  // Whether clients are asked for a certificate.
  bool asks_clients() const { return asks_clients_; }

 private:
  explicit TlsCertificates(const TlsFiles& files);

  const bool asks_clients_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_AUTH_TLS_FILES_H_
