#include "server/core/request_log.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "server/core/metrics.h"

namespace semrank {

RequestLog::RequestLog(absl::Duration slow_threshold,
                       std::function<void(const std::string& line)> write)
    : slow_threshold_(slow_threshold), write_(std::move(write)) {}

void RequestLog::Record(std::string_view method,
                        const RequestIdentity& identity,
                        const absl::Status& status, absl::Duration time) {
  if (!status.ok()) {
    MutexLock lock(mutex_);
    failures_.push_front(
        {absl::Now(), std::string(method), identity.request_id, status});
    if (failures_.size() > kMaxFailures) failures_.pop_back();
  }
  std::int64_t num_dropped = 0;
  if (slow_threshold_ <= absl::ZeroDuration() || time < slow_threshold_ ||
      !throttle_.Allow(absl::Now(), num_dropped)) {
    return;
  }
  std::string line = absl::StrFormat(
      "slow request: method=%s code=%s seconds=%.6f request_id=%s", method,
      StatusCodeLabel(status.code()), absl::ToDoubleSeconds(time),
      identity.request_id);
  if (!identity.traceparent.empty()) {
    line += " traceparent=" + identity.traceparent;
  }
  if (num_dropped > 0) absl::StrAppendFormat(&line, " dropped=%d", num_dropped);
  write_(line);
}

std::vector<RequestLog::Failure> RequestLog::failures() const {
  MutexLock lock(mutex_);
  return {failures_.begin(), failures_.end()};
}

}  // namespace semrank
