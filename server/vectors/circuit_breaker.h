// Whether something that failed is asked again yet: it is left alone for a
// while that doubles with each failure, up to a limit, and is then tried once.
//
//   Time     handed in, so that tests decide it.
//   Threads  every method, from any thread. is_closed costs one atomic load.
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

  CircuitBreaker() : CircuitBreaker(Options()) {}
  explicit CircuitBreaker(const Options& options)
      : options_(options), wait_(options.min_wait) {}

  // Closed = in use. While open, only the trial may use it.
  bool is_closed() const { return closed_.load(std::memory_order_relaxed); }

  // A use failed. True when that opened it; others that were under way and
  // fail too change nothing.
  bool Failed(Clock::time_point now);
  // The trial failed: the next one comes after twice the time.
  void TrialFailed(Clock::time_point now);
  // The trial went well: closed. What fails again within max_wait is left
  // alone for longer than the last time.
  void TrialSucceeded(Clock::time_point now);
  // When to try, while open.
  Clock::time_point next_trial() const;

 private:
  void LeaveAlone(Clock::time_point now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  std::atomic<bool> closed_ = true;
  mutable Mutex mutex_;
  // How long it is left alone the next time.
  Clock::duration wait_ ABSL_GUARDED_BY(mutex_);
  Clock::time_point next_trial_ ABSL_GUARDED_BY(mutex_);
  Clock::time_point closed_since_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_VECTORS_CIRCUIT_BREAKER_H_
