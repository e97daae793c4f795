#include "client/load/load_report.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"

namespace semrank {
namespace {

// A histogram with logarithmic buckets, as HdrHistogram has: a long run takes
// no more memory than a short one.
// Each power of two has 128 buckets of equal width, so a bucket is at most
// 1/128 of its values wide. Below 128 ns, a bucket is one nanosecond wide.
constexpr int kBits = 7;
constexpr std::uint64_t kBucketsPerPower = std::uint64_t{1} << kBits;

std::size_t BucketOf(std::uint64_t nanos) {
  if (nanos < kBucketsPerPower) return nanos;
  const int shift = std::bit_width(nanos) - 1 - kBits;
  return shift * kBucketsPerPower + (nanos >> shift);
}

// The largest value in the bucket: no percentile is reported as too low.
std::uint64_t UpperEnd(std::size_t bucket) {
  if (bucket < kBucketsPerPower) return bucket;
  const std::size_t shift = bucket / kBucketsPerPower - 1;
  const std::uint64_t lower = (bucket - shift * kBucketsPerPower) << shift;
  return lower + (std::uint64_t{1} << shift) - 1;
}

// A run that was interrupted in the warm-up has measured for no time.
double PerSecond(std::int64_t count, const LoadReport& report) {
  const double seconds = absl::ToDoubleSeconds(report.duration);
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

// The table and JSON have the same rows in the same order.
std::vector<std::pair<std::string, absl::Duration>> Latencies(
    const LatencyRecorder& latencies) {
  return {{"mean", latencies.Mean()},
          {"p50", latencies.Percentile(50)},
          {"p90", latencies.Percentile(90)},
          {"p99", latencies.Percentile(99)},
          {"p99.9", latencies.Percentile(99.9)},
          {"max", latencies.max()}};
}

// In whole microseconds, because further digits of JSON would mean nothing.
double Milliseconds(absl::Duration duration) {
  return std::round(absl::ToDoubleMicroseconds(duration)) / 1e3;
}

}  // namespace

void LatencyRecorder::Record(absl::Duration latency) {
  const absl::Duration counted = std::max(latency, absl::ZeroDuration());
  const std::size_t bucket = BucketOf(absl::ToInt64Nanoseconds(counted));
  if (bucket >= buckets_.size()) buckets_.resize(bucket + 1);
  ++buckets_[bucket];
  ++count_;
  sum_ += counted;
  max_ = std::max(max_, counted);
}

absl::Duration LatencyRecorder::Mean() const {
  return count_ == 0 ? absl::ZeroDuration() : sum_ / count_;
}

// The nearest-rank definition: no interpolation, so a percentile is a latency
// that occurred, up to the width of its bucket.
absl::Duration LatencyRecorder::Percentile(double percent) const {
  const auto wanted = static_cast<std::int64_t>(
      std::ceil(percent / 100 * static_cast<double>(count_)));
  std::int64_t seen = 0;
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    seen += buckets_[bucket];
    if (seen > 0 && seen >= wanted) {
      const auto end = static_cast<std::int64_t>(UpperEnd(bucket));
      return std::min(absl::Nanoseconds(end), max_);
    }
  }
  return max_;
}

Table LoadTable(const LoadReport& report) {
  Table table({{"measured"}, {"value", Table::kRight}});
  table.AddRow({"seconds", absl::StrFormat("%.2f", absl::ToDoubleSeconds(
                                                       report.duration))});
  table.AddRow({"calls", absl::StrFormat("%d", report.latencies.count())});
  const auto add = [&](const std::string& name, double value, int digits) {
    table.AddRow({name, absl::StrFormat("%.*f", digits, value)});
  };
  add("calls a second", PerSecond(report.latencies.count(), report), 1);
  add("goodput (in time) a second", PerSecond(report.num_in_time, report), 1);
  table.AddRow({"late sends", absl::StrFormat("%d", report.num_late)});
  table.AddRow({"unsent", absl::StrFormat("%d", report.num_unsent)});
  if (report.lateness.count() > 0) {
    add("lateness p99 ms", Milliseconds(report.lateness.Percentile(99)), 3);
  }
  for (const auto& [name, latency] : Latencies(report.latencies)) {
    add(name + " ms", Milliseconds(latency), 3);
  }
  if (report.refusals.count() > 0) {
    add("refused p50 ms", Milliseconds(report.refusals.Percentile(50)), 3);
    add("refused p99 ms", Milliseconds(report.refusals.Percentile(99)), 3);
  }
  for (const auto& [code, count] : report.num_failed) {
    table.AddRow({"failed with " + absl::StatusCodeToString(code),
                  absl::StrFormat("%d", count)});
  }
  if (report.num_skipped_lines > 0) {
    table.AddRow(
        {"skipped lines", absl::StrFormat("%d", report.num_skipped_lines)});
  }
  return table;
}

// Every member is present, also if it is 0, so that programs need no check.
nlohmann::ordered_json LoadJson(const LoadReport& report) {
  nlohmann::ordered_json latency_ms, failed = nlohmann::ordered_json::object();
  for (const auto& [name, latency] : Latencies(report.latencies)) {
    latency_ms[name] = Milliseconds(latency);
  }
  for (const auto& [code, count] : report.num_failed) {
    failed[absl::StatusCodeToString(code)] = count;
  }
  return {{"seconds", absl::ToDoubleSeconds(report.duration)},
          {"calls", report.latencies.count()},
          {"calls_per_second", PerSecond(report.latencies.count(), report)},
          {"in_time", report.num_in_time},
          {"goodput_per_second", PerSecond(report.num_in_time, report)},
          {"late_sends", report.num_late},
          {"unsent", report.num_unsent},
          {"lateness_ms",
           {{"p50", Milliseconds(report.lateness.Percentile(50))},
            {"p99", Milliseconds(report.lateness.Percentile(99))},
            {"max", Milliseconds(report.lateness.max())}}},
          {"latency_ms", std::move(latency_ms)},
          {"refused",
           {{"calls", report.refusals.count()},
            {"p50_ms", Milliseconds(report.refusals.Percentile(50))},
            {"p99_ms", Milliseconds(report.refusals.Percentile(99))}}},
          {"failed", std::move(failed)},
          {"skipped_lines", report.num_skipped_lines}};
}

}  // namespace semrank
