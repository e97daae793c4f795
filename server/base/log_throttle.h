// Limits log lines per second and counts the dropped ones, so that no client
// can fill the log.
//
//   Threads  thread-safe.
#ifndef SEMRANK_SERVER_BASE_LOG_THROTTLE_H_
#define SEMRANK_SERVER_BASE_LOG_THROTTLE_H_

#include <cstdint>
#include <utility>

#include "absl/time/time.h"
#include "model/base/mutex.h"

namespace semrank {

class LogThrottle {
 public:
  explicit LogThrottle(int max_lines_per_second)
      : max_lines_per_second_(max_lines_per_second) {}

  // True when a line may be written at `now`; `num_dropped` is then the number
  // of lines dropped since the last one.
  bool Allow(absl::Time now, std::int64_t& num_dropped) {
    const MutexLock lock(mutex_);
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

 private:
  const int max_lines_per_second_;
  Mutex mutex_;
  absl::Time second_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  int num_lines_ ABSL_GUARDED_BY(mutex_) = 0;
  std::int64_t num_dropped_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_LOG_THROTTLE_H_
