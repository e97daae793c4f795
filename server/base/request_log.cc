#include "server/base/request_log.h"

#include <utility>

#include "absl/time/clock.h"

namespace semrank {

namespace {

void TellThrottled(const RequestLog::Tell& tell, LogThrottle& throttle,
                   const RequestLog::Outcome& outcome) {
  std::int64_t num_dropped = 0;
  if (tell && throttle.Allow(absl::Now(), num_dropped)) {
    tell(outcome, num_dropped);
  }
}

}  // namespace

RequestLog::RequestLog(absl::Duration slow_threshold, Tellers tellers)
    : slow_threshold_(slow_threshold), tellers_(std::move(tellers)) {}

void RequestLog::Record(const Outcome& outcome) {
  if (!outcome.status.ok()) {
    MutexLock lock(mutex_);
    failures_.push_front({absl::Now(), std::string(outcome.method),
                          outcome.identity.request_id, outcome.number,
                          outcome.status});
    if (failures_.size() > kMaxFailures) failures_.pop_back();
  }
  if (outcome.status.code() == absl::StatusCode::kInternal) {
    TellThrottled(tellers_.bug, bug_throttle_, outcome);
  }
  if (slow_threshold_ > absl::ZeroDuration() &&
      outcome.time >= slow_threshold_) {
    TellThrottled(tellers_.slow, slow_throttle_, outcome);
  }
}

std::vector<RequestLog::Failure> RequestLog::failures() const {
  MutexLock lock(mutex_);
  return {failures_.begin(), failures_.end()};
}

}  // namespace semrank
