#include "client/lib/retry.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/numbers.h"

namespace semrank {

std::optional<absl::Duration> Retry::NextDelay(
    grpc::StatusCode code, const std::optional<std::string>& pushback,
    absl::Time now) {
  ++num_attempts_;
  if (!IsRetryable(code, pushback.has_value()) ||
      num_attempts_ >= policy_.max_attempts) {
    return std::nullopt;
  }
  absl::Duration delay;
  if (pushback.has_value()) {
    // gRPC's proposal A6: a value that is not a number, or negative, forbids
    // retries.
    std::int64_t millis = -1;
    if (!absl::SimpleAtoi(*pushback, &millis) || millis < 0) {
      return std::nullopt;
    }
    // Never earlier than the server asks for.
    delay = absl::Milliseconds(millis) * absl::Uniform(random_, 1.0, 1.2);
  } else {
    delay = Backoff() * absl::Uniform(random_, 0.5, 1.0);
  }
  // A call that starts at the deadline can only fail; the error of this attempt
  // says more than DEADLINE_EXCEEDED would.
  if (now + delay >= deadline_) return std::nullopt;
  return delay;
}

// The loop ends at the maximum, so that many attempts overflow nothing.
absl::Duration Retry::Backoff() const {
  absl::Duration backoff = policy_.initial_backoff;
  for (int i = 1; i < num_attempts_ && backoff < policy_.max_backoff; ++i) {
    backoff *= 2;
  }
  return std::min(backoff, policy_.max_backoff);
}

}  // namespace semrank
