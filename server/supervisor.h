// Signals from the program that runs the server, systemd or a shell, and
// notifications to it.
//
//   Signals        SIGHUP looks for new models, keys and certificates; SIGTERM
//                  and SIGINT stop the server.
//   Notifications  (Type=notify and WatchdogSec of a unit) do nothing when
//                  systemd did not start the process.
#ifndef SEMRANK_SERVER_SUPERVISOR_H_
#define SEMRANK_SERVER_SUPERVISOR_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "absl/time/time.h"

namespace semrank {

// Blocks SIGTERM, SIGINT and SIGHUP in this thread and in those that it starts
// from now on: they wait until a Signals receives them.
void BlockSignals();

// Receives the signals in a thread of its own, since loading a model does not
// wait for signals. After SIGTERM or SIGINT a second one ends the process at
// once.
//
//   Threads  thread-safe. Every thread has the signals blocked (BlockSignals).
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  bool stop_requested() const;
  // Waits for SIGTERM, SIGINT or SIGHUP, at most `time`; true = stop.
  bool WaitFor(absl::Duration time);
  // Waits for SIGTERM or SIGINT and returns its number. Calls `on_hangup` after
  // each SIGHUP.
  int WaitForStop(const std::function<void()>& on_hangup);

 private:
  void Run();

  mutable std::mutex mutex_;
  std::condition_variable heard_;
  int stop_signal_ = 0;  // 0 = none yet
  bool hangup_ = false;
  bool ended_ = false;
  std::thread thread_;
};

// The start is complete; `systemctl status` shows `status`.
void NotifyReady(const std::string& status);
// The stop has begun.
void NotifyStopping();

// How often NotifyAlive must be called, with a margin: a quarter of
// WatchdogSec. 0 = systemd does not watch the process.
absl::Duration ServiceWatchdogInterval();
void NotifyAlive();

}  // namespace semrank

#endif  // SEMRANK_SERVER_SUPERVISOR_H_
