#include "server/vectors/circuit_breaker.h"

#include <algorithm>

namespace semrank {

bool CircuitBreaker::Failed(Clock::time_point now) {
  MutexLock lock(mutex_);
  if (!is_closed()) return false;
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
