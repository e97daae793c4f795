// Rate, failures and latency of the calls of the last minutes, by method, for
// /statusz: an operator needs no metrics server to see them.
//
//   Windows    1 and 5 minutes, or the time since the start. They end at the
//              report and may begin one sampling interval early.
//   Quantiles  come from the buckets of grpc_server_handling_seconds, linear
//              within a bucket.
//   Threads    thread-safe.
#ifndef SEMRANK_SERVER_BASE_RECENT_CALLS_H_
#define SEMRANK_SERVER_BASE_RECENT_CALLS_H_

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "model/base/mutex.h"
#include "server/base/metrics.h"

namespace semrank {

class RecentCalls {
 public:
  static constexpr absl::Duration kInterval = absl::Seconds(10);
  static constexpr std::array<absl::Duration, 2> kWindows = {absl::Minutes(1),
                                                             absl::Minutes(5)};
  struct Window {
    std::uint64_t num_calls = 0;
    double calls_per_second = 0;
    double failed_share = 0;  // of the calls, 0 to 1
    absl::Duration p50 = {};
    absl::Duration p99 = {};
  };
  struct Method {
    std::string name;  // "semrank.v1.RankingService/Rank"
    std::string type;  // "unary", "http", ...
    std::array<Window, 2> windows;
  };

  // `metrics` must outlive this object; counting begins at `now`.
  RecentCalls(const Metrics* metrics, absl::Time now);

  // The owner calls it every kInterval.
  void Sample(absl::Time now);
  // Methods with calls in the longest window.
  std::vector<Method> Report(absl::Time now) const;

 private:
  struct Totals {
    absl::Time time;
    std::vector<CallTotals> methods;  // as Metrics::Calls returns them
  };

  // The newest sample that is at least `window` old, else the oldest.
  const Totals& Before(absl::Time now, absl::Duration window) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Metrics* const metrics_;
  mutable Mutex mutex_;
  std::deque<Totals> samples_ ABSL_GUARDED_BY(mutex_);  // oldest first
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_RECENT_CALLS_H_
