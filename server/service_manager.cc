#include "server/service_manager.h"

#include <systemd/sd-daemon.h>

#include <cstdint>

namespace semrank {
namespace {

// A lost notification cannot be reported: systemd then acts as if the process
// had sent none.
void Notify(const std::string& state) {
  sd_notify(/*unset_environment=*/0, state.c_str());
}

}  // namespace

void NotifyReady(const std::string& status) {
  Notify("READY=1\nSTATUS=" + status);
}

void NotifyStopping() { Notify("STOPPING=1\nSTATUS=draining"); }

absl::Duration ServiceWatchdogInterval() {
  std::uint64_t microseconds = 0;
  if (sd_watchdog_enabled(/*unset_environment=*/0, &microseconds) <= 0) {
    return absl::ZeroDuration();
  }
  // systemd advises half of its interval. A quarter leaves time for the
  // requests that precede the heartbeat in the queue of the worker pool.
  return absl::Microseconds(static_cast<std::int64_t>(microseconds)) / 4;
}

void NotifyAlive() { Notify("WATCHDOG=1"); }

}  // namespace semrank
