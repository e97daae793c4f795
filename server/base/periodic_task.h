// A thread that runs a task periodically.
//
//   Threads  RunNow from any thread.
#ifndef SEMRANK_SERVER_BASE_PERIODIC_TASK_H_
#define SEMRANK_SERVER_BASE_PERIODIC_TASK_H_

#include <functional>
#include <thread>

#include "absl/time/time.h"
#include "model/base/mutex.h"

namespace semrank {

class PeriodicTask {
 public:
  // Runs `task` `interval` after the start and after its own last end, and
  // when RunNow is called. 0 = only then.
  PeriodicTask(absl::Duration interval, std::function<void()> task);
  // Waits for a run that has begun.
  ~PeriodicTask();
  PeriodicTask(const PeriodicTask&) = delete;
  PeriodicTask& operator=(const PeriodicTask&) = delete;

  // The next run begins at once, or when the present one ends.
  void RunNow();

 private:
  // False once the task is destroyed.
  bool WaitForNextRun();

  const absl::Duration interval_;
  const std::function<void()> task_;
  Mutex mutex_;
  CondVar run_or_stop_;
  bool run_now_ ABSL_GUARDED_BY(mutex_) = false;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

// Ends the process with exit code 1 unless destroyed within `limit`: for a stop
// that hangs because of a bug, which no supervisor should have to wait for.
class Watchdog {
 public:
  explicit Watchdog(absl::Duration limit);

 private:
  const PeriodicTask task_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_PERIODIC_TASK_H_
