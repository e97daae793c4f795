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
  std::vector<std::int64_t> buckets_;  // up to the one of the longest latency
  std::int64_t count_ = 0;
  absl::Duration sum_ = {};
  absl::Duration max_ = {};
};

struct LoadReport {
  absl::Duration duration = {};  // shorter than the option after Ctrl-C
  // How long the successful calls took, from the time when they were due.
  LatencyRecorder latencies = {};
  // Successful calls whose latency is at most the deadline: the goodput.
  std::int64_t num_in_time = 0;
  // How long the calls took that were refused with RESOURCE_EXHAUSTED, from the
  // time when they were sent: how fast the server refuses, whether or not the
  // sender was late.
  LatencyRecorder refusals = {};
  // How long after their time the calls were sent. Empty without a rate.
  LatencyRecorder lateness = {};
  std::map<absl::StatusCode, std::int64_t> num_failed = {};
  absl::Status first_failure = {};  // OK = none
  // Calls that were sent more than a millisecond late.
  std::int64_t num_late = 0;
  // Calls that were due but not sent, because too many were in flight.
  std::int64_t num_unsent = 0;
  // Lines of the file of titles that could not be used.
  std::int64_t num_skipped_lines = 0;
};

// Rows (name, value): calls, calls per second, goodput, late and unsent calls,
// lateness, latencies, refusals, and the number of failures per code.
Table LoadTable(const LoadReport& report);

// {"seconds", "calls", "calls_per_second", "in_time", "goodput_per_second",
// "late_sends", "unsent", "lateness_ms": {"p50", "p99", "max"}, "latency_ms":
// {"mean", "p50", "p90", "p99", "p99.9", "max"}, "refused": {"calls", "p50_ms",
// "p99_ms"}, "failed": {"UNAVAILABLE": 3, ...}, "skipped_lines"}; "calls"
// counts the successful ones, and "failed" the refused ones too.
nlohmann::ordered_json LoadJson(const LoadReport& report);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_LOAD_LOAD_REPORT_H_
