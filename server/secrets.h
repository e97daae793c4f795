// The files that say who may call and who the server is: read at the start,
// and again whenever they change.
//
//   Threads  one of its own looks at the files once a second; access() and
//            tls() from any thread.
#ifndef SEMRANK_SERVER_SECRETS_H_
#define SEMRANK_SERVER_SECRETS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "server/auth/access_control.h"
#include "server/auth/tls_files.h"
#include "server/base/periodic_task.h"
#include "server/options.h"

namespace semrank {

class Secrets {
 public:
  // The error of the first file that cannot be used, named.
  static absl::StatusOr<std::unique_ptr<Secrets>> Load(
      const SecurityOptions& options);
  Secrets(const Secrets&) = delete;
  Secrets& operator=(const Secrets&) = delete;

  // The same error, keeping nothing.
  static absl::Status Check(const SecurityOptions& options);

  // Null = everyone may call.
  const AccessControl* access() const { return access_.get(); }
  // Null = plain text.
  const TlsCertificates* tls() const { return tls_.get(); }

 private:
  Secrets() = default;
  void Refresh();

  std::unique_ptr<AccessControl> access_;
  std::unique_ptr<TlsCertificates> tls_;
  std::unique_ptr<PeriodicTask> watch_;  // first to go
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_SECRETS_H_
