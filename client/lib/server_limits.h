// How much of a request the server takes in one message: asked for when it is
// needed, kept, and asked for anew when the server refuses a message as too
// large, since one that was restarted may have other limits.
//
//   Threads  every method, from any thread; asking blocks its thread.
#ifndef SEMRANK_CLIENT_LIB_SERVER_LIMITS_H_
#define SEMRANK_CLIENT_LIB_SERVER_LIMITS_H_

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/lib/connection.h"
#include "client/lib/request_pieces.h"
#include "model/base/mutex.h"
#include "semrank/v1/model_service.grpc.pb.h"

namespace semrank {

// Whether less in one message might have done: TOO_MANY_TEXTS,
// MESSAGE_TOO_LARGE, or gRPC's own RESOURCE_EXHAUSTED, which has no reason.
bool MayBeTooLarge(const absl::Status& status);

class ServerLimits {
 public:
  // `connection` must outlive it.
  explicit ServerLimits(const Connection* connection);

  // Nothing until they have been asked for.
  std::optional<PieceLimits> known() const;
  // As the server said when it was asked last, or says now.
  absl::StatusOr<PieceLimits> Get(absl::Time deadline);
  absl::StatusOr<PieceLimits> Ask(absl::Time deadline);

  // After a failure of a message that is within `used`: true if it may have
  // been too large and the server, asked again, names other limits, which
  // `used` then has.
  bool Renew(const absl::Status& failure, absl::Time deadline,
             PieceLimits& used);

 private:
  const Connection& connection_;
  const std::unique_ptr<v1::ModelService::Stub> model_;
  mutable Mutex mutex_;
  std::optional<PieceLimits> limits_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace semrank

#endif  // SEMRANK_CLIENT_LIB_SERVER_LIMITS_H_
