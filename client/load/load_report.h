// What a load run measures, and how it is printed.
#ifndef SEMRANK_CLIENT_LOAD_LOAD_REPORT_H_
#define SEMRANK_CLIENT_LOAD_LOAD_REPORT_H_

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/output/table.h"

namespace semrank {

// Percentiles of any number of latencies in bounded memory: a histogram, as
// HdrHistogram has it, whose buckets are less than 1 % wide from nanoseconds to
// hours. (Debian has HdrHistogram for Java and Go only.) Not thread-safe.
class LatencyRecorder {
 public:
  // A negative latency counts as 0.
  void Record(absl::Duration latency);

  std::int64_t count() const { return count_; }
  // These are 0 if nothing was recorded.
  absl::Duration max() const { return max_; }
  absl::Duration Mean() const;
  // The smallest latency that at least `percent` (0 to 100) of all latencies do
  // not exceed, rounded up by less than 1 %.
  absl::Duration Percentile(double percent) const;

 private:
  std::vector<std::int64_t> buckets_;  // up to that of the longest latency
  std::int64_t count_ = 0;
  absl::Duration sum_ = {};
  absl::Duration max_ = {};
};

struct LoadReport {
  absl::Duration duration = {};    // shorter than the option after Ctrl-C
  LatencyRecorder latencies = {};  // of the successful calls
  std::map<absl::StatusCode, std::int64_t> num_failed = {};
  absl::Status first_failure = {};  // OK = none
  // Calls that were sent more than a millisecond late.
  std::int64_t num_late = 0;
  // Calls that were due but not sent, because too many were in flight.
  std::int64_t num_unsent = 0;
};

// Rows (name, value): calls, calls per second, late and unsent calls,
// latencies, and the number of failures per code.
Table LoadTable(const LoadReport& report);

// {"seconds", "calls", "calls_per_second", "late_sends", "unsent",
// "latency_ms": {"mean", "p50", "p90", "p99", "p99.9", "max"}, "failed":
// {"UNAVAILABLE": 3, ...}}; "calls" counts the successful ones.
nlohmann::ordered_json LoadJson(const LoadReport& report);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_LOAD_LOAD_REPORT_H_
