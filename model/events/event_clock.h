// The time up to which a stream of records has come: the median of the latest
// times. A single record with a wrong time, which an application may report,
// does not move it, and it follows a clock that was set back.
//
//   Threads  not thread-safe.
#ifndef SEMRANK_MODEL_EVENTS_EVENT_CLOCK_H_
#define SEMRANK_MODEL_EVENTS_EVENT_CLOCK_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace semrank {

class EventClock {
 public:
  // The clock has followed a jump of the time after this number of records.
  static constexpr std::size_t kNumTimes = 31;

  void Add(std::int64_t time_ms) {
    times_[num_added_++ % kNumTimes] = time_ms;
    const std::size_t count = std::min(num_added_, kNumTimes);
    // The first few records decide; then a look at every eighth suffices.
    if (num_added_ > kNumTimes && num_added_ % 8 != 0) return;
    auto sorted = times_;
    const auto middle = sorted.begin() + static_cast<int>((count - 1) / 2);
    std::nth_element(sorted.begin(), middle,
                     sorted.begin() + static_cast<int>(count));
    now_ms_ = *middle;
  }

  std::int64_t now_ms() const { return now_ms_; }

 private:
  std::array<std::int64_t, kNumTimes> times_ = {};
  std::size_t num_added_ = 0;
  std::int64_t now_ms_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVENTS_EVENT_CLOCK_H_
