#include "server/vectors/circuit_breaker.h"

#include <algorithm>

namespace semrank {

// Every request reads closed_ without the mutex. Relaxed order suffices: no
// other data is published through it, and a request that still sees the old
// value at worst uses a failing store once more.

bool CircuitBreaker::Failed(Clock::time_point now) {
  MutexLock lock(mutex_);
  // When several requests fail together, only the first one doubles the wait.
  if (!is_closed()) return false;
  // After a long time without failures the wait begins with the shortest again.
  if (now - closed_since_ > options_.max_wait) wait_ = options_.min_wait;
  closed_.store(false, std::memory_order_relaxed);
  ScheduleTrial(now);
  return true;
}

void CircuitBreaker::TrialFailed(Clock::time_point now) {
  MutexLock lock(mutex_);
  ScheduleTrial(now);
}

void CircuitBreaker::TrialSucceeded(Clock::time_point now) {
  MutexLock lock(mutex_);
  closed_since_ = now;
  closed_.store(true, std::memory_order_relaxed);
}

CircuitBreaker::Clock::time_point CircuitBreaker::next_trial() const {
  MutexLock lock(mutex_);
  return next_trial_;
}

void CircuitBreaker::ScheduleTrial(Clock::time_point now) {
  next_trial_ = now + wait_;
  wait_ = std::min(2 * wait_, options_.max_wait);
}

}  // namespace semrank
