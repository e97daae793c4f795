// Admission: permits to work, counted in texts, and the measurements that a
// decision to admit needs.
#ifndef SEMRANK_SERVER_BASE_ADMISSION_H_
#define SEMRANK_SERVER_BASE_ADMISSION_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/base/fair_share.h"

namespace semrank {

// A level, and its highest value of the current minute and the one before: a
// gauge that is read at each scrape misses short peaks.
//
//   Threads  thread-safe and lock-free. A change at the very end of a minute
//            counts in one of the two.
class HighWaterMark {
 public:
  using Clock = std::chrono::steady_clock;

  std::int64_t level() const { return level_.load(); }
  void Raise(std::int64_t by, Clock::time_point now = Clock::now()) {
    Note(level_ += by, MinuteOf(now));
  }
  // Returns false and changes nothing when the level would exceed `limit`; a
  // rise by 0 always succeeds.
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
    // The old level may have held since long before this minute.
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

  // Minutes count from 2, so that an empty slot is long past.
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

// Requests whose texts cost about the same.
enum class RequestKind { kRank, kEmbed, kExplain, kPut, kSearch, kOther };
inline constexpr std::size_t kNumRequestKinds = 6;

// How long requests run, as measured: the mean of the last ones of the same
// kind and about the same size. There is one mean for cached and new titles:
// the server knows which ones a request brings only after looking them up, and
// the mean over the queue is what counts.
//
//   Threads  thread-safe and lock-free; of two updates at once one may be lost.
class RequestCosts {
 public:
  // The cost of a text before a request of the kind and size was measured:
  // about that of a new title.
  static constexpr absl::Duration kFirstGuess = absl::Microseconds(5);

  // `time` is what a complete run took, without waiting; `num_texts` below 1
  // counts as 1.
  void Record(RequestKind kind, std::int64_t num_texts, absl::Duration time);
  // The cost of a whole request: the mean of a text times `num_texts`.
  absl::Duration Estimate(RequestKind kind, std::int64_t num_texts) const;

 private:
  // Sizes from one power of two to the next share a mean.
  static constexpr std::size_t kNumSizes = 16;
  using Mean = std::atomic<float>;  // nanoseconds a text; 0 = none yet

  std::array<std::array<Mean, kNumSizes>, kNumRequestKinds> means_{};
};

// Permits to work, counted in texts: one rule for every call, so that a batch
// of a thousand weighs what a thousand single texts weigh. A request gets its
// permit before any work and holds it until the response is made. No request
// waits: over the limit it is refused at once; when not one more text fits, it
// is refused before it is read. Permits bound memory; WorkerPool bounds the
// time that admitted requests wait.
//
//   Threads  thread-safe; lock-free but for the share of a caller.
class Admission {
 public:
  struct ReturnTexts {
    std::int64_t num_texts = 0;
    HeldShare share = {};
    void operator()(Admission* admission) {
      admission->inflight_texts_.Lower(num_texts);
      share.Reset();
    }
  };
  // Returns its texts when it is reset or destroyed. Must not outlive the
  // Admission.
  using Permit = std::unique_ptr<Admission, ReturnTexts>;

  // Each caller may have `max_share_per_caller` of the texts that the others
  // leave free.
  explicit Admission(std::int64_t max_inflight_texts,
                     double max_share_per_caller = 1)
      : max_inflight_texts_(max_inflight_texts),
        shares_("texts in flight", max_inflight_texts, max_share_per_caller) {}
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  // ResourceExhausted with "retry_delay_ms" when the texts in flight leave no
  // room for `num_texts` (OVERLOADED), or the caller would exceed its share
  // (CALLER_SHARE). A call without texts (0) always fits, and a caller without
  // a name has no share to exceed.
  absl::StatusOr<Permit> Admit(std::int64_t num_texts,
                               std::string_view caller = {});

  // Returns the same errors when not one more text would fit. Takes no permit.
  absl::Status CheckRoom(std::string_view caller = {}) const;

  std::int64_t max_inflight_texts() const { return max_inflight_texts_; }
  std::int64_t inflight_texts() const { return inflight_texts_.level(); }
  // The most texts in flight in the last minute or two.
  std::int64_t high_water_mark() const { return inflight_texts_.mark(); }
  // Texts whose requests wait for a worker; the code that queues requests
  // maintains the level.
  HighWaterMark& queued_texts() { return queued_texts_; }
  // The measured cost of admitted requests.
  RequestCosts& costs() { return costs_; }

 private:
  // The error for `num_texts` that do not fit beside `inflight` texts.
  absl::Status DoNotFit(std::int64_t num_texts, std::int64_t inflight) const;

  const std::int64_t max_inflight_texts_;
  FairShare shares_;
  HighWaterMark inflight_texts_;
  HighWaterMark queued_texts_;
  RequestCosts costs_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_ADMISSION_H_
