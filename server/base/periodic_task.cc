#include "server/base/periodic_task.h"

#include <unistd.h>

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/logging.h"

namespace semrank {

// The thread is the last member, so it finds the others constructed.
PeriodicTask::PeriodicTask(absl::Duration interval, std::function<void()> task)
    : interval_(interval), task_(std::move(task)), thread_([this] {
        while (WaitForNextRun()) task_();
      }) {}

// Sets the flag under the mutex. Without it the thread could test the flag,
// miss the notification and then wait for a whole interval.
PeriodicTask::~PeriodicTask() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
  }
  run_or_stop_.NotifyAll();
  thread_.join();
}

void PeriodicTask::RunNow() {
  {
    MutexLock lock(mutex_);
    run_now_ = true;
  }
  run_or_stop_.NotifyAll();
}

bool PeriodicTask::WaitForNextRun() {
  using Clock = std::chrono::steady_clock;
  // The time is computed before waiting, so that spurious wake-ups do not
  // postpone the run. The clock is a steady one, since setting the system's
  // time must not trigger or delay a run.
  const Clock::time_point next_run =
      Clock::now() + absl::ToChronoNanoseconds(interval_);
  MutexLock lock(mutex_);
  while (!run_now_ && !stop_) {
    if (interval_ == absl::ZeroDuration()) {
      run_or_stop_.Wait(mutex_);
      continue;
    }
    const auto left = next_run - Clock::now();
    if (left <= Clock::duration::zero()) break;
    run_or_stop_.WaitFor(mutex_, left);
  }
  // Several RunNow during one run lead to one further run.
  run_now_ = false;
  return !stop_;
}

Watchdog::Watchdog(absl::Duration limit)
    : task_(limit, [limit] {
        Log(LogLevel::kCritical,
            absl::StrCat("still not stopped after ",
                         absl::FormatDuration(limit), ": exiting"));
        // Not exit: it would run destructors, which may be what hangs.
        _exit(1);
      }) {}

}  // namespace semrank
