// The files that say who may call and who the server is: API keys and
// certificates. They are read at the start, and again when they change.
//
//   Threads  thread-safe. A thread of this class looks at the files once a
//            second.
//   Errors   those of the file, or InvalidArgument for its content; both name
//            the file, and no message has any part of a key.
#ifndef SEMRANK_SERVER_AUTH_SECRETS_H_
#define SEMRANK_SERVER_AUTH_SECRETS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/base/mutex.h"
#include "server/auth/access_control.h"
#include "server/auth/tls_files.h"
#include "server/base/periodic_task.h"

namespace semrank {

class Secrets {
 public:
  // An empty `api_keys_file` means no keys, an empty `tls.cert` plain text. The
  // error names the first file that cannot be used.
  static absl::StatusOr<std::unique_ptr<Secrets>> Load(
      const std::string& api_keys_file, const TlsFiles& tls);
  Secrets(const Secrets&) = delete;
  Secrets& operator=(const Secrets&) = delete;

  // The error that Load would return.
  static absl::Status Check(const std::string& api_keys_file,
                            const TlsFiles& tls);

  // Looks at the files now. Logs and returns what is new: "API keys", "TLS
  // certificates".
  std::vector<std::string> Refresh();

  // Null = every caller may call.
  const AccessControl* access() const { return access_.get(); }
  // Null = plain text.
  const TlsCertificates* tls() const { return tls_.get(); }

 private:
  Secrets() = default;

  Mutex refresh_mutex_;  // held while files are read
  std::unique_ptr<AccessControl> access_;
  std::unique_ptr<TlsCertificates> tls_;
  // The last member: its thread ends before what it refreshes.
  std::unique_ptr<PeriodicTask> watch_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_AUTH_SECRETS_H_
