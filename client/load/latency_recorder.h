// Percentiles of many latencies in bounded memory: a histogram whose buckets
// are less than 1 % wide, from nanoseconds to hours. Not for several threads.
#ifndef SEMRANK_CLIENT_LOAD_LATENCY_RECORDER_H_
#define SEMRANK_CLIENT_LOAD_LATENCY_RECORDER_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"

namespace semrank {

class LatencyRecorder {
 public:
  // Negative ones count as 0.
  void Record(absl::Duration latency);

  std::int64_t count() const { return count_; }
  absl::Duration max() const { return max_; }
  // 0 when nothing was recorded, here and below.
  absl::Duration Mean() const;
  // The smallest latency that `percent` of all do not exceed, rounded up by
  // less than 1 %; percent from 0 to 100.
  absl::Duration Percentile(double percent) const;

 private:
  std::vector<std::int64_t> buckets_;  // as long as the longest latency needs
  std::int64_t count_ = 0;
  absl::Duration sum_ = {};
  absl::Duration max_ = {};
};

}  // namespace semrank

#endif  // SEMRANK_CLIENT_LOAD_LATENCY_RECORDER_H_
