// Signals: SIGHUP looks for new models, SIGTERM and SIGINT stop the server.
#ifndef SEMRANK_SERVER_SIGNALS_H_
#define SEMRANK_SERVER_SIGNALS_H_

#include <condition_variable>
#include <functional>
#include <mutex>
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

}  // namespace semrank

#endif  // SEMRANK_SERVER_SIGNALS_H_
