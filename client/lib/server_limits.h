// The limits of the server on one message, fetched when first needed and
// cached. They are fetched again when the server rejects a message as too
// large, since a restarted server may have other limits.
//
//   Threads  all methods are thread-safe; fetching blocks the thread.
#ifndef SEMRANK_CLIENT_LIB_SERVER_LIMITS_H_
#define SEMRANK_CLIENT_LIB_SERVER_LIMITS_H_

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/lib/connection.h"
#include "client/lib/request_chunks.h"
#include "model/base/mutex.h"
#include "semrank/v1/model_service.grpc.pb.h"

namespace semrank {

// Whether a smaller message might be accepted: TOO_MANY_TEXTS,
// MESSAGE_TOO_LARGE, or gRPC's own RESOURCE_EXHAUSTED, which has no ErrorInfo.
bool MayBeTooLarge(const absl::Status& status);

class ServerLimits {
 public:
  // `connection` must outlive this object.
  explicit ServerLimits(const Connection* connection);

  // Nothing before the first fetch.
  std::optional<MessageLimits> known() const;
  // The cached limits, fetched if there are none.
  absl::StatusOr<MessageLimits> Get(absl::Time deadline);
  // Fetches and caches.
  absl::StatusOr<MessageLimits> Fetch(absl::Time deadline);

  // After a message within the limits `used` failed: fetches the limits if the
  // message may have been too large. True if it was too large for them; they
  // are then in `used`.
  bool Renew(const absl::Status& failure, absl::Time deadline,
             MessageLimits& used);

 private:
  const Connection& connection_;
  const std::unique_ptr<v1::ModelService::Stub> model_;
  mutable Mutex mutex_;
  std::optional<MessageLimits> limits_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace semrank

#endif  // SEMRANK_CLIENT_LIB_SERVER_LIMITS_H_
