#include "server/service_manager.h"

#include <systemd/sd-daemon.h>

#include <cstdint>

namespace semrank {
namespace {

// A notification that is lost cannot be reported: systemd then acts as for a
// process that sent none.
void Notify(const std::string& state) {
  sd_notify(/*unset_environment=*/0, state.c_str());
}

}  // namespace

void TellServiceManagerReady(const std::string& status) {
  Notify("READY=1\nSTATUS=" + status);
}

void TellServiceManagerStopping() { Notify("STOPPING=1\nSTATUS=draining"); }

absl::Duration ServiceWatchdogInterval() {
  std::uint64_t microseconds = 0;
  if (sd_watchdog_enabled(/*unset_environment=*/0, &microseconds) <= 0) {
    return absl::ZeroDuration();
  }
  // systemd advises half of its interval; a quarter leaves room for the
  // requests that the heartbeat waits behind in the worker pool.
  return absl::Microseconds(static_cast<std::int64_t>(microseconds)) / 4;
}

void TellServiceManagerAlive() { Notify("WATCHDOG=1"); }

}  // namespace semrank
