// Decides whether and when a failed call is attempted again (gRPC's proposal
// A6). gRPC's own `retryPolicy` does not fit: it retries RESOURCE_EXHAUSTED
// without a pushback, waits for pushbacks past the deadline, does not count its
// attempts, and never resumes a stream that has received a message.
//
//   Codes    UNAVAILABLE; RESOURCE_EXHAUSTED only with a pushback, the trailer
//            grpc-retry-pushback-ms. A negative or malformed pushback forbids
//            further attempts.
//   Delay    the pushback plus up to 20 %; without one, 50-100 % of a backoff
//            that doubles. The jitter keeps clients that were rejected together
//            from returning together.
//   Deadline no delay ends after it: the call fails at once instead.
//   Threads  not thread-safe; one object per call.
#ifndef SEMRANK_CLIENT_LIB_RETRY_H_
#define SEMRANK_CLIENT_LIB_RETRY_H_

#include <grpcpp/support/status.h>

#include <optional>
#include <string>

#include "absl/random/random.h"
#include "absl/time/time.h"
#include "client/lib/client_options.h"

namespace semrank {

class Retry {
 public:
  Retry(const RetryPolicy& policy, absl::Time deadline)
      : policy_(policy), deadline_(deadline) {}

  // Whether a failure with this code can be temporary.
  static bool IsRetryable(grpc::StatusCode code, bool has_pushback) {
    return code == grpc::StatusCode::UNAVAILABLE ||
           (code == grpc::StatusCode::RESOURCE_EXHAUSTED && has_pushback);
  }

  // Counts an attempt that failed at `now`. Returns the delay before the next
  // one, or nothing if there must be none.
  std::optional<absl::Duration> NextDelay(
      grpc::StatusCode code, const std::optional<std::string>& pushback,
      absl::Time now);

  // Attempts counted so far.
  int num_attempts() const { return num_attempts_; }
  // Counts from 0 again, because the last attempt made progress.
  void Restart() { num_attempts_ = 0; }

 private:
  absl::Duration Backoff() const;

  const RetryPolicy policy_;
  const absl::Time deadline_;
  absl::BitGen random_;
  int num_attempts_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_CLIENT_LIB_RETRY_H_
