// Threads that act after a time.
#ifndef SEMRANK_SERVER_BASE_PERIODIC_TASK_H_
#define SEMRANK_SERVER_BASE_PERIODIC_TASK_H_

#include <functional>
#include <thread>

#include "absl/time/time.h"
#include "model/base/mutex.h"

namespace semrank {

// Runs a task periodically, in a thread of its own. RunNow is thread-safe.
class PeriodicTask {
 public:
  // `interval` passes before the first run, and between the end of a run and
  // the next one. 0 = the task runs only when RunNow is called.
  PeriodicTask(absl::Duration interval, std::function<void()> task);
  // Waits until a run that has begun ends.
  ~PeriodicTask();
  PeriodicTask(const PeriodicTask&) = delete;
  PeriodicTask& operator=(const PeriodicTask&) = delete;

  // The next run begins at once, or when the current one ends.
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

// Ends the process with exit code 1 unless it is destroyed within `limit`. A
// supervisor need not wait for a stop that hangs because of a bug.
class Watchdog {
 public:
  explicit Watchdog(absl::Duration limit);

 private:
  const PeriodicTask task_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_PERIODIC_TASK_H_
