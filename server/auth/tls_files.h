// The server's certificate, its key and the client authorities, read from files
// and checked before anything uses them.
//
//   Errors   the file's own, or InvalidArgument, naming the file. No message
//            contains any part of a key.
//   Threads  ReadTlsFiles from any thread; TlsCertificates says its own.
#ifndef SEMRANK_SERVER_AUTH_TLS_FILES_H_
#define SEMRANK_SERVER_AUTH_TLS_FILES_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "model/base/mutex.h"

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

// Reads all of them. The key must be that of the first certificate, so a pair
// that is being replaced is never taken half old, half new.
absl::StatusOr<TlsContent> ReadTlsFiles(const TlsFiles& files);

// Follows the files: listeners take `current` for each new connection.
//
//   Threads  `current` from any thread; Refresh from one at a time.
class TlsCertificates {
 public:
  // The error of ReadTlsFiles.
  static absl::StatusOr<std::unique_ptr<TlsCertificates>> FromFiles(
      const TlsFiles& files);
  TlsCertificates(const TlsCertificates&) = delete;
  TlsCertificates& operator=(const TlsCertificates&) = delete;

  // Reads the files again if they have changed since the last call. True = new
  // contents are current. An error, returned once per change, leaves the old
  // ones.
  absl::StatusOr<bool> Refresh();

  // Never null; a different object after each renewal.
  std::shared_ptr<const TlsContent> current() const {
    MutexLock lock(mutex_);
    return content_;
  }
  // Whether clients are asked for a certificate.
  bool asks_clients() const { return !files_.client_ca.empty(); }

 private:
  explicit TlsCertificates(TlsFiles files) : files_(std::move(files)) {}

  const TlsFiles files_;
  std::string stamp_;  // of the files at the last Refresh
  mutable Mutex mutex_;
  std::shared_ptr<const TlsContent> content_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_AUTH_TLS_FILES_H_
