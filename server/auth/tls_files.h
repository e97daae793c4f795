// Certificates and keys as they lie in files, checked before anything uses
// them.
//
//   Errors   the file's own, or InvalidArgument, naming the file. Nothing of a
//            key is ever in a message.
//   Threads  free functions, from any thread.
#ifndef SEMRANK_SERVER_AUTH_TLS_FILES_H_
#define SEMRANK_SERVER_AUTH_TLS_FILES_H_

#include <string>

#include "absl/status/statusor.h"

namespace semrank {

// Paths of PEM files.
struct TlsFiles {
  std::string cert = {};       // certificate, then those that signed it
  std::string key = {};        // the certificate's private key
  std::string client_ca = {};  // who signs clients; empty = clients show none
};

// What the files hold.
struct TlsContent {
  std::string cert = {};
  std::string key = {};
  std::string client_ca = {};
};

// Reads all of them. The key must be that of the first certificate, so a pair
// that is being replaced is never taken half old, half new.
absl::StatusOr<TlsContent> ReadTlsFiles(const TlsFiles& files);

// Changes when any of them does.
std::string TlsFilesStamp(const TlsFiles& files);

}  // namespace semrank

#endif  // SEMRANK_SERVER_AUTH_TLS_FILES_H_
