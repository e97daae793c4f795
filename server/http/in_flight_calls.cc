#include "server/http/in_flight_calls.h"

#include <algorithm>

#include "absl/time/clock.h"

namespace semrank {

void InFlightCalls::Begin() {
  const MutexLock lock(mutex_);
  ++num_calls_;
}

void InFlightCalls::End() {
  const MutexLock lock(mutex_);
  if (--num_calls_ == 0) none_.NotifyAll();
}

bool InFlightCalls::WaitUntilNone(absl::Time limit) {
  const MutexLock lock(mutex_);
  while (num_calls_ > 0) {
    const absl::Duration left = limit - absl::Now();
    if (left <= absl::ZeroDuration()) return false;
    // An infinite duration would overflow std::chrono.
    none_.WaitFor(mutex_,
                  absl::ToChronoNanoseconds(std::min(left, absl::Hours(1))));
  }
  return true;
}

}  // namespace semrank
