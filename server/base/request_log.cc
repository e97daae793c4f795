#include "server/base/request_log.h"

#include <cmath>
#include <utility>

#include "absl/time/clock.h"

namespace semrank {
namespace {

// Hashes the id to a number between 0 and 1, so all requests of one id are
// logged or none: the messages of a stream, and retries that keep their id.
bool IsSampled(const std::string& request_id, double share) {
  const auto hash = static_cast<double>(std::hash<std::string>()(request_id));
  return std::ldexp(hash, -64) < share;
}

}  // namespace

RequestLog::RequestLog(const Options& options, LogLine log)
    : options_(options), log_(std::move(log)) {}

void RequestLog::Log(Reason reason, LogThrottle& throttle,
                     const Outcome& outcome) {
  std::int64_t num_dropped = 0;
  if (throttle.Allow(absl::Now(), num_dropped)) {
    log_(reason, outcome, num_dropped);
  }
}

void RequestLog::Record(const Outcome& outcome) {
  // The failure outlives the strings of the call, which the outcome views.
  if (!outcome.status.ok()) {
    MutexLock lock(mutex_);
    failures_.push_front({absl::Now(), std::string(outcome.method),
                          outcome.identity.request_id, outcome.number,
                          outcome.status});
    if (failures_.size() > kMaxFailures) failures_.pop_back();
  }
  if (log_ == nullptr) return;
  if (outcome.status.code() == absl::StatusCode::kInternal) {
    Log(Reason::kBug, bug_throttle_, outcome);
  }
  if (options_.slow_threshold > absl::ZeroDuration() &&
      outcome.time >= options_.slow_threshold) {
    Log(Reason::kSlow, slow_throttle_, outcome);
  }
  if (options_.access_share > 0 &&
      IsSampled(outcome.identity.request_id, options_.access_share)) {
    Log(Reason::kAccess, access_throttle_, outcome);
  }
  // These lines are an audit trail, so no call that succeeded is dropped. Any
  // client can make calls that fail, for example without a key.
  if (!outcome.by_admin) return;
  if (outcome.status.ok()) {
    log_(Reason::kAdmin, outcome, /*num_dropped=*/0);
  } else {
    Log(Reason::kAdmin, admin_failure_throttle_, outcome);
  }
}

std::vector<RequestLog::Failure> RequestLog::failures() const {
  MutexLock lock(mutex_);
  return {failures_.begin(), failures_.end()};
}

}  // namespace semrank
