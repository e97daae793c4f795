// What the server tells systemd (Type=notify and WatchdogSec in its unit), by
// libsystemd. Nothing is sent when systemd did not start the process.
//
//   Threads  every function, from any thread.
#ifndef SEMRANK_SERVER_SERVICE_MANAGER_H_
#define SEMRANK_SERVER_SERVICE_MANAGER_H_

#include <string>

#include "absl/time/time.h"

namespace semrank {

// The start is complete; `status` is what `systemctl status` shows.
void TellServiceManagerReady(const std::string& status);
// The stop has begun.
void TellServiceManagerStopping();

// How often systemd must hear TellServiceManagerAlive, with a margin: a quarter
// of WatchdogSec. 0 = systemd does not watch.
absl::Duration ServiceWatchdogInterval();
void TellServiceManagerAlive();

}  // namespace semrank

#endif  // SEMRANK_SERVER_SERVICE_MANAGER_H_
