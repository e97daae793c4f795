#include "server/base/periodic_task.h"

#include <chrono>
#include <utility>

namespace semrank {

PeriodicTask::PeriodicTask(absl::Duration interval, std::function<void()> task)
    : interval_(interval), task_(std::move(task)), thread_([this] {
        while (WaitForTurn()) task_();
      }) {}

PeriodicTask::~PeriodicTask() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
  }
  hurry_or_stop_.NotifyAll();
  thread_.join();
}

void PeriodicTask::Hurry() {
  {
    MutexLock lock(mutex_);
    hurry_ = true;
  }
  hurry_or_stop_.NotifyAll();
}

bool PeriodicTask::WaitForTurn() {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point turn =
      Clock::now() + absl::ToChronoNanoseconds(interval_);
  MutexLock lock(mutex_);
  while (!hurry_ && !stop_) {
    if (interval_ == absl::ZeroDuration()) {
      hurry_or_stop_.Wait(mutex_);
      continue;
    }
    const auto left = turn - Clock::now();
    if (left <= Clock::duration::zero()) break;
    hurry_or_stop_.WaitFor(mutex_, left);
  }
  hurry_ = false;
  return !stop_;
}

}  // namespace semrank
