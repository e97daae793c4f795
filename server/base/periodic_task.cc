#include "server/base/periodic_task.h"

#include <chrono>
#include <utility>

namespace semrank {

PeriodicTask::PeriodicTask(absl::Duration interval, std::function<void()> task)
    : interval_(interval), task_(std::move(task)), thread_([this] {
        while (WaitForNextRun()) task_();
      }) {}

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
  run_now_ = false;
  return !stop_;
}

}  // namespace semrank
