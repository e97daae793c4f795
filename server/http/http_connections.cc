#include "server/http/http_connections.h"

#include <algorithm>

#include "absl/time/clock.h"

namespace semrank {

void HttpConnections::BeginCall() {
  const MutexLock lock(mutex_);
  ++num_in_flight_;
}

void HttpConnections::EndCall() {
  const MutexLock lock(mutex_);
  if (--num_in_flight_ == 0) no_calls_.NotifyAll();
}

// Calls are counted under a mutex, though only the I/O thread begins and ends
// them: the thread that stops the server waits here.
bool HttpConnections::WaitForCalls(absl::Time limit) {
  const MutexLock lock(mutex_);
  while (num_in_flight_ > 0) {
    const absl::Duration left = limit - absl::Now();
    if (left <= absl::ZeroDuration()) return false;
    // An infinite duration would overflow std::chrono.
    no_calls_.WaitFor(
        mutex_, absl::ToChronoNanoseconds(std::min(left, absl::Hours(1))));
  }
  return true;
}

}  // namespace semrank
