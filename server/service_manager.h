// Notifications to systemd (Type=notify and WatchdogSec in the unit), by
// libsystemd. They do nothing when systemd did not start the process.
#ifndef SEMRANK_SERVER_SERVICE_MANAGER_H_
#define SEMRANK_SERVER_SERVICE_MANAGER_H_

#include <string>

#include "absl/time/time.h"

namespace semrank {

// The start is complete; `systemctl status` shows `status`.
void NotifyReady(const std::string& status);
// The stop has begun.
void NotifyStopping();

// How often NotifyAlive must be called, with a margin: a quarter of
// WatchdogSec. 0 = systemd does not watch the process.
absl::Duration ServiceWatchdogInterval();
void NotifyAlive();

}  // namespace semrank

#endif  // SEMRANK_SERVER_SERVICE_MANAGER_H_
