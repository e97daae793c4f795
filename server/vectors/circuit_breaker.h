// Decides when something that failed is used again: not for a while that
// doubles with each failure, up to a limit, and then by one trial.
//
//   Time     is a parameter, so that tests decide it.
//   Threads  all methods are thread-safe. is_closed costs one atomic load.
#ifndef SEMRANK_SERVER_VECTORS_CIRCUIT_BREAKER_H_
#define SEMRANK_SERVER_VECTORS_CIRCUIT_BREAKER_H_

#include <atomic>
#include <chrono>

#include "model/base/mutex.h"

namespace semrank {

class CircuitBreaker {
 public:
  using Clock = std::chrono::steady_clock;

  struct Options {
    Clock::duration min_wait = std::chrono::milliseconds(100);
    Clock::duration max_wait = std::chrono::seconds(10);
  };

  explicit CircuitBreaker(const Options& options)
      : options_(options), wait_(options.min_wait) {}

  // Closed = in use. While it is open, only the trial may use it.
  bool is_closed() const { return closed_.load(std::memory_order_relaxed); }

  // Reports that a use failed. Returns whether that opened the breaker: only
  // the first of several concurrent failures does.
  bool Failed(Clock::time_point now);
  // Reports that the trial failed; the next one comes after twice the time.
  void TrialFailed(Clock::time_point now);
  // Reports that the trial succeeded, which closes the breaker. A failure
  // within max_wait after that waits longer than the last one.
  void TrialSucceeded(Clock::time_point now);
  // The time of the next trial, while the breaker is open.
  Clock::time_point next_trial() const;

 private:
  void ScheduleTrial(Clock::time_point now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  std::atomic<bool> closed_ = true;
  mutable Mutex mutex_;
  // How long the next failure keeps the breaker open.
  Clock::duration wait_ ABSL_GUARDED_BY(mutex_);
  Clock::time_point next_trial_ ABSL_GUARDED_BY(mutex_);
  Clock::time_point closed_since_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_VECTORS_CIRCUIT_BREAKER_H_
