// A level that goes up and down, and the highest that it was of late: what a
// gauge that is looked at now and then never shows.
//
//   Window   the mark is that of the current minute and the one before it, by
//            the clock that is passed in, whoever reads it and how often.
//   Threads  every method, from any thread; lock-free. A change that comes just
//            as a minute ends counts in one of the two.
#ifndef SEMRANK_SERVER_BASE_HIGH_WATER_MARK_H_
#define SEMRANK_SERVER_BASE_HIGH_WATER_MARK_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace semrank {

class HighWaterMark {
 public:
  using Clock = std::chrono::steady_clock;

  std::int64_t level() const { return level_.load(); }
  void Raise(std::int64_t by, Clock::time_point now = Clock::now()) {
    Note(level_ += by, MinuteOf(now));
  }
  // False, and nothing is changed, when the level would be over `limit`; by 0
  // it always goes.
  bool RaiseWithin(std::int64_t by, std::int64_t limit,
                   Clock::time_point now = Clock::now()) {
    std::int64_t level = level_.load();
    do {
      if (by > 0 && level + by > limit) return false;
    } while (!level_.compare_exchange_weak(level, level + by));
    Note(level + by, MinuteOf(now));
    return true;
  }
  void Lower(std::int64_t by, Clock::time_point now = Clock::now()) {
    // It may have been as high since long before this minute.
    Note(level_.fetch_sub(by), MinuteOf(now));
  }

  std::int64_t mark(Clock::time_point now = Clock::now()) const {
    const std::int64_t minute = MinuteOf(now);
    std::int64_t highest = level();
    for (const std::atomic<std::int64_t>& slot : slots_) {
      const std::int64_t packed = slot.load(std::memory_order_relaxed);
      if ((packed >> kLevelBits) + 1 < minute) continue;
      highest = std::max(highest, packed & kMaxLevel);
    }
    return highest;
  }

 private:
  static constexpr int kLevelBits = 32;
  static constexpr std::int64_t kMaxLevel = (std::int64_t{1} << kLevelBits) - 1;

  // From 2 on, so that an empty slot is long past.
  static std::int64_t MinuteOf(Clock::time_point now) {
    return 2 + std::chrono::floor<std::chrono::minutes>(now.time_since_epoch())
                   .count();
  }

  void Note(std::int64_t level, std::int64_t minute) {
    const std::int64_t noted =
        (minute << kLevelBits) | std::clamp<std::int64_t>(level, 0, kMaxLevel);
    std::atomic<std::int64_t>& slot = slots_[minute % slots_.size()];
    std::int64_t old = slot.load(std::memory_order_relaxed);
    // A later minute is a larger number.
    while (old < noted && !slot.compare_exchange_weak(old, noted)) {
    }
  }

  std::atomic<std::int64_t> level_{0};
  // The minute and its highest level, packed; even and odd minutes.
  std::array<std::atomic<std::int64_t>, 2> slots_{};
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_HIGH_WATER_MARK_H_
