#include "server/base/log_throttle.h"

#include <utility>

namespace semrank {

bool LogThrottle::Allow(absl::Time now, std::int64_t& num_dropped) {
  MutexLock lock(mutex_);
  if (now - second_ >= absl::Seconds(1)) {
    second_ = now;
    num_lines_ = 0;
  }
  if (num_lines_ >= max_lines_per_second_) {
    ++num_dropped_;
    return false;
  }
  ++num_lines_;
  num_dropped = std::exchange(num_dropped_, 0);
  return true;
}

}  // namespace semrank
