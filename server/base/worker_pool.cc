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

WorkerPool::WorkerPool(Options options)
    : options_(std::move(options)), queue_(std::max(options_.num_threads, 1)) {
  for (int i = 0; i < std::max(options_.num_threads, 1); ++i) {
    threads_.emplace_back([this] { Run(); });
  }
}

// Queued tasks still run, since each belongs to a request that must end by
// answering. Run returns only when the queue is empty as well.
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
  // After the mutex is released, so the woken thread does not wait for it
  // again.
  work_or_stop_.NotifyOne();
}

bool WorkerPool::has_queue() const {
  MutexLock lock(mutex_);
  return !queue_.empty();
}

absl::Status WorkerPool::CheckWait(bool is_long, absl::Duration cost,
                                   absl::Duration time_left) const {
  // The answer may be out of date when it is used: other threads submit
  // after the look. That is accepted, because the limit is an estimate anyway.
  absl::Duration wait;
  {
    MutexLock lock(mutex_);
    wait = queue_.Wait(is_long, options_.now());
  }
  // Not refused even if its cost exceeds the time left: only a run corrects an
  // estimate that is too high.
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
    // The limit is the client's own, so no flag is named.
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
    // Without the lock; `task` goes at the end of the iteration, before the
    // next wait, so what it captures does not live on in an idle worker.
    task.run();
  }
}

}  // namespace semrank
