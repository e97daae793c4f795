#include "server/base/recent_calls.h"

#include <algorithm>
#include <utility>

namespace semrank {
namespace {

// Subtracts the counters at the beginning of the window. Metrics appends
// methods and never reorders them, so a method is found by its place; a method
// beyond the end of `earlier` was added since and began at 0.
CallTotals Difference(const CallTotals& later,
                      const std::vector<CallTotals>& earlier,
                      std::size_t place) {
  CallTotals difference = later;
  if (place >= earlier.size()) return difference;
  const CallTotals& before = earlier[place];
  difference.num_calls -= before.num_calls;
  difference.num_failed -= before.num_failed;
  for (std::size_t i = 0; i < before.num_up_to.size(); ++i) {
    difference.num_up_to[i] -= before.num_up_to[i];
  }
  return difference;
}

// Linear interpolation within the bucket that the rank falls into, as
// Prometheus' histogram_quantile does. Above the last bound the bound itself is
// returned, which is then too low.
absl::Duration Quantile(const CallTotals& calls, double share) {
  const double rank = share * static_cast<double>(calls.num_calls);
  double lower = 0;
  double num_below = 0;
  for (std::size_t i = 0; i < calls.num_up_to.size(); ++i) {
    const auto num_up_to = static_cast<double>(calls.num_up_to[i]);
    const double upper = calls.bounds[i];
    // Empty buckets are skipped, also for rank 0.
    if (num_up_to >= rank && num_up_to > num_below) {
      return absl::Seconds(lower + (upper - lower) * (rank - num_below) /
                                       (num_up_to - num_below));
    }
    num_below = num_up_to;
    lower = upper;
  }
  return absl::Seconds(lower);  // beyond the last bound
}

RecentCalls::Window Summarise(const CallTotals& calls, absl::Duration time) {
  RecentCalls::Window window;
  window.num_calls = calls.num_calls;
  if (calls.num_calls == 0 || time <= absl::ZeroDuration()) return window;
  const auto num_calls = static_cast<double>(calls.num_calls);
  window.calls_per_second = num_calls / absl::ToDoubleSeconds(time);
  window.failed_share = static_cast<double>(calls.num_failed) / num_calls;
  window.p50 = Quantile(calls, 0.5);
  window.p99 = Quantile(calls, 0.99);
  return window;
}

}  // namespace

RecentCalls::RecentCalls(const Metrics* metrics, absl::Time now)
    : metrics_(metrics), samples_{{now, {}}} {}

void RecentCalls::Sample(absl::Time now) {
  Totals totals = {now, metrics_->Calls()};
  const MutexLock lock(mutex_);
  samples_.push_back(std::move(totals));
  // One sample that is old enough for the longest window stays.
  while (samples_.size() > 1 && now - samples_[1].time >= kWindows.back()) {
    samples_.pop_front();
  }
}

const RecentCalls::Totals& RecentCalls::Before(absl::Time now,
                                               absl::Duration window) const {
  const auto newer = std::ranges::find_if(samples_, [&](const Totals& sample) {
    return now - sample.time < window;
  });
  return newer == samples_.begin() ? samples_.front() : *(newer - 1);
}

std::vector<RecentCalls::Method> RecentCalls::Report(absl::Time now) const {
  const std::vector<CallTotals> totals = metrics_->Calls();
  std::vector<Method> methods;
  const MutexLock lock(mutex_);
  for (std::size_t i = 0; i < totals.size(); ++i) {
    Method method = {totals[i].name, totals[i].type, {}};
    for (std::size_t w = 0; w < kWindows.size(); ++w) {
      const Totals& before = Before(now, kWindows[w]);
      method.windows[w] = Summarise(Difference(totals[i], before.methods, i),
                                    now - before.time);
    }
    if (method.windows.back().num_calls > 0) methods.push_back(method);
  }
  return methods;
}

}  // namespace semrank
