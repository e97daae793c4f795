// Signals: SIGHUP looks for new models, SIGTERM and SIGINT stop the server.
#ifndef SEMRANK_SERVER_SIGNALS_H_
#define SEMRANK_SERVER_SIGNALS_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "absl/time/time.h"

namespace semrank {

// Before any thread is started: SIGTERM, SIGINT and SIGHUP wait for a Signals.
void BlockSignals();

// Receives the signals in a thread of its own, since loading a model does not
// wait for signals. After a SIGTERM or SIGINT a second one ends the process at
// once.
//
//   Threads  every method, from any thread; signals are blocked in all.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  bool stop_requested() const;
  // Waits until SIGTERM, SIGINT or SIGHUP, at most `time`; true = to stop.
  bool WaitFor(absl::Duration time);
  // Waits until SIGTERM or SIGINT and returns which. SIGHUP calls `on_hangup`.
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
