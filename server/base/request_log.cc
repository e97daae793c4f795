#include "server/base/request_log.h"

#include <utility>

#include "absl/time/clock.h"

namespace semrank {

namespace {

void LogThrottled(const RequestLog::LogLine& log, LogThrottle& throttle,
                  const RequestLog::Outcome& outcome) {
  std::int64_t num_dropped = 0;
  if (log && throttle.Allow(absl::Now(), num_dropped)) {
    log(outcome, num_dropped);
  }
}

}  // namespace

RequestLog::RequestLog(absl::Duration slow_threshold, Loggers loggers)
    : slow_threshold_(slow_threshold), loggers_(std::move(loggers)) {}

void RequestLog::Record(const Outcome& outcome) {
  if (!outcome.status.ok()) {
    MutexLock lock(mutex_);
    failures_.push_front({absl::Now(), std::string(outcome.method),
                          outcome.identity.request_id, outcome.number,
                          outcome.status});
    if (failures_.size() > kMaxFailures) failures_.pop_back();
  }
  if (outcome.status.code() == absl::StatusCode::kInternal) {
    LogThrottled(loggers_.bug, bug_throttle_, outcome);
  }
  if (slow_threshold_ > absl::ZeroDuration() &&
      outcome.time >= slow_threshold_) {
    LogThrottled(loggers_.slow, slow_throttle_, outcome);
  }
}

std::vector<RequestLog::Failure> RequestLog::failures() const {
  MutexLock lock(mutex_);
  return {failures_.begin(), failures_.end()};
}

}  // namespace semrank
