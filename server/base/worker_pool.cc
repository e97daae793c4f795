#include "server/base/worker_pool.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "server/base/errors.h"

namespace semrank {
namespace {

std::int64_t Milliseconds(absl::Duration time) {
  return absl::ToInt64Milliseconds(time);
}

}  // namespace

void TaskQueue::Push(Task task, Clock::time_point now) {
  Line& line = !task.is_long ? short_ : task.has_begun ? begun_ : long_;
  line.cost += task.cost;
  line.tasks.push_back({std::move(task), now});
}

// Begun tasks precede new long ones, and the two kinds alternate. Without the
// alternation, a steady flow of short requests would starve a long one that has
// been admitted and holds its permits.
TaskQueue::Line& TaskQueue::NextLine() {
  Line& next_long = begun_.tasks.empty() ? long_ : begun_;
  if (next_long.tasks.empty()) return short_;
  if (short_.tasks.empty()) return next_long;
  // Flips only when both kinds wait.
  return std::exchange(short_is_next_, !short_is_next_) ? short_ : next_long;
}

Task TaskQueue::Pop() {
  Line& line = NextLine();
  Task task = std::move(line.tasks.front().task);
  line.tasks.pop_front();
  // Subtracts exactly what Push added, so the sum is 0 when the line is empty.
  line.cost -= task.cost;
  return task;
}

// An empty line means no wait even while workers are busy: the first task to
// wait is always accepted, so that a long task with a wrong estimate cannot
// make the server refuse everything.
absl::Duration TaskQueue::Wait(bool is_long, Clock::time_point now) const {
  const Line& line = is_long ? long_ : short_;
  if (line.tasks.empty()) return absl::ZeroDuration();
  const absl::Duration long_cost = long_.cost + begun_.cost;
  // Short and long tasks alternate, so at most as many slices of long ones run
  // before a short task as there are short ones.
  const absl::Duration before =
      short_.cost + (is_long ? long_cost : std::min(short_.cost, long_cost));
  // The age of the oldest entry is a measurement: it grows when the workers are
  // blocked, whatever the estimated costs are.
  return std::max(before / num_workers_,
                  absl::FromChrono(now - line.tasks.front().since));
}

WorkerPool::WorkerPool(Options options)
    : options_(std::move(options)),
      shares_("microseconds of work",
              absl::ToInt64Microseconds(options_.max_wait) *
                  std::max(options_.num_threads, 1),
              options_.max_share_per_caller),
      queue_(std::max(options_.num_threads, 1)) {
  for (int i = 0; i < std::max(options_.num_threads, 1); ++i) {
    threads_.emplace_back([this] { Run(); });
  }
}

// Queued tasks still run, since each belongs to a request that must be
// answered. Run returns only when the queue is empty too.
WorkerPool::~WorkerPool() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
  }
  work_or_stop_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::Submit(Task task) {
  {
    MutexLock lock(mutex_);
    queue_.Push(std::move(task), options_.now());
  }
  // The mutex is released first, so that the woken thread need not wait for it.
  work_or_stop_.NotifyOne();
}

bool WorkerPool::has_queue() const {
  MutexLock lock(mutex_);
  return !queue_.empty();
}

absl::Status WorkerPool::CheckWait(bool is_long, absl::Duration cost,
                                   absl::Duration time_left) const {
  // The wait may be out of date when it is used, since other threads submit
  // tasks. That is acceptable, because the limit is an estimate anyway.
  absl::Duration wait;
  {
    MutexLock lock(mutex_);
    wait = queue_.Wait(is_long, options_.now());
  }
  // The task is accepted even if its cost exceeds the time left: only a run
  // corrects an estimate that is too high.
  if (wait == absl::ZeroDuration()) return absl::OkStatus();
  if (wait > options_.max_wait) {
    return Overloaded(
        absl::StrFormat("the request would wait %d ms for a worker; the limit "
                        "is %d ms (--max_queue_wait)",
                        Milliseconds(wait), Milliseconds(options_.max_wait)),
        LimitValues(Milliseconds(wait), Milliseconds(options_.max_wait),
                    "max_queue_wait"));
  }
  if (wait + cost > time_left) {
    // The client set this limit, so the error names no flag.
    return Overloaded(
        absl::StrFormat("the request would wait %d ms for a worker and run for "
                        "%d ms; its deadline is in %d ms",
                        Milliseconds(wait), Milliseconds(cost),
                        Milliseconds(time_left)),
        {{"value", std::to_string(Milliseconds(wait + cost))},
         {"limit", std::to_string(Milliseconds(time_left))}});
  }
  return absl::OkStatus();
}

void WorkerPool::Run() {
  while (true) {
    Task task;
    {
      MutexLock lock(mutex_);
      while (queue_.empty() && !stop_) work_or_stop_.Wait(mutex_);
      if (queue_.empty()) return;
      task = queue_.Pop();
    }
    // `task` is destroyed at the end of the iteration, before the next wait, so
    // that an idle worker does not keep what it captured.
    task.run();
  }
}

}  // namespace semrank
