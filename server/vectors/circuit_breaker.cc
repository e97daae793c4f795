#include "server/vectors/circuit_breaker.h"

#include <algorithm>

namespace semrank {

// closed_ is read without the mutex on every request and written under it.
// Relaxed order suffices: nothing else is published by it, and a request that
// still sees the old value asks a failing store once more, at worst.

bool CircuitBreaker::Failed(Clock::time_point now) {
  MutexLock lock(mutex_);
  // Of several requests that fail together only the first one opens it and
  // doubles the wait.
  if (!is_closed()) return false;
  // Worked for long enough since: a new trouble, which begins with the short
  // wait. What fails again soon continues with the longer one.
  if (now - closed_since_ > options_.max_wait) wait_ = options_.min_wait;
  closed_.store(false, std::memory_order_relaxed);
  LeaveAlone(now);
  return true;
}

void CircuitBreaker::TrialFailed(Clock::time_point now) {
  MutexLock lock(mutex_);
  LeaveAlone(now);
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

void CircuitBreaker::LeaveAlone(Clock::time_point now) {
  next_trial_ = now + wait_;
  wait_ = std::min(2 * wait_, options_.max_wait);
}

}  // namespace semrank
