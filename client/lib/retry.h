// Whether and when a call that failed is made once more (gRPC's proposal A6).
//
//   Which    UNAVAILABLE, and RESOURCE_EXHAUSTED if the server says when to
//            come back: the trailer grpc-retry-pushback-ms. A pushback that is
//            negative or no number means never.
//   When     after the server's pushback and up to a fifth more; without one,
//            between half and all of a backoff that doubles. So clients that
//            were turned away together do not return together.
//   Time     a wait that would end after the deadline is not begun.
#ifndef SEMRANK_CLIENT_LIB_RETRY_H_
#define SEMRANK_CLIENT_LIB_RETRY_H_

#include <grpcpp/support/status.h>

#include <optional>
#include <string>

#include "absl/random/random.h"
#include "absl/time/time.h"

namespace semrank {

struct RetryPolicy {
  // Of one call, the first included; at least 1 = no call is repeated.
  int max_attempts = 4;
  // Before the second attempt, where the server asks for nothing else.
  absl::Duration initial_backoff = absl::Milliseconds(100);
  // The backoff doubles up to this.
  absl::Duration max_backoff = absl::Seconds(2);
};

// The attempts of one call. Not for several threads.
class Retry {
 public:
  Retry(const RetryPolicy& policy, absl::Time deadline)
      : policy_(policy), deadline_(deadline) {}

  // Of an attempt that ended now: how long to wait before the next one, or
  // nothing if there is to be none.
  std::optional<absl::Duration> Wait(grpc::StatusCode code,
                                     const std::optional<std::string>& pushback,
                                     absl::Time now);

  // Attempts that Wait has heard of.
  int num_attempts() const { return num_attempts_; }
  // The last attempt came further: they count anew.
  void Restart() { num_attempts_ = 0; }

 private:
  absl::Duration Backoff();

  const RetryPolicy policy_;
  const absl::Time deadline_;
  absl::BitGen random_;
  int num_attempts_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_CLIENT_LIB_RETRY_H_
