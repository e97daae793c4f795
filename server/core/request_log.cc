#include "server/core/request_log.h"

#include <utility>

#include "absl/time/clock.h"

namespace semrank {

RequestLog::RequestLog(absl::Duration slow_threshold, TellSlow tell_slow)
    : slow_threshold_(slow_threshold), tell_slow_(std::move(tell_slow)) {}

void RequestLog::Record(const Outcome& outcome) {
  if (!outcome.status.ok()) {
    MutexLock lock(mutex_);
    failures_.push_front({absl::Now(), std::string(outcome.method),
                          outcome.identity.request_id, outcome.number,
                          outcome.status});
    if (failures_.size() > kMaxFailures) failures_.pop_back();
  }
  std::int64_t num_dropped = 0;
  if (slow_threshold_ > absl::ZeroDuration() &&
      outcome.time >= slow_threshold_ &&
      throttle_.Allow(absl::Now(), num_dropped)) {
    tell_slow_(outcome, num_dropped);
  }
}

std::vector<RequestLog::Failure> RequestLog::failures() const {
  MutexLock lock(mutex_);
  return {failures_.begin(), failures_.end()};
}

}  // namespace semrank
