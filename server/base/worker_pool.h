// Threads for requests, so that gRPC's threads stay free to read calls and to
// refuse those that would wait too long. Without them, calls pile up inside
// gRPC, where nothing can refuse them, and all of them are answered too late.
//
//   Order    task_queue.h.
//   Bound    CheckWait refuses what would wait longer than `max_wait`. What is
//            submitted without asking is bounded by admission, since queued
//            work holds its permits.
//   Threads  every method, from any thread.
#ifndef SEMRANK_SERVER_BASE_WORKER_POOL_H_
#define SEMRANK_SERVER_BASE_WORKER_POOL_H_

#include <functional>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "model/base/mutex.h"
#include "server/base/task_queue.h"

namespace semrank {

// The longest time that a request may wait for a worker. Bursts that end sooner
// lose nothing; a longer wait means that more comes than can be answered.
inline constexpr absl::Duration kMaxQueueWait = absl::Milliseconds(250);

class WorkerPool {
 public:
  struct Options {
    int num_threads = 1;  // at least one is started
    absl::Duration max_wait = kMaxQueueWait;
    // For tests.
    std::function<TaskQueue::Clock::time_point()> now = &TaskQueue::Clock::now;
  };

  explicit WorkerPool(Options options);
  explicit WorkerPool(int num_threads)
      : WorkerPool(Options{.num_threads = num_threads}) {}
  // Runs what is queued, then joins.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  void Submit(Task task);
  void Submit(std::function<void()> run) { Submit({.run = std::move(run)}); }

  // ResourceExhausted OVERLOADED if a task would wait longer than max_wait, or
  // if it would not be done within `time_left`. A task is never refused when
  // none of its kind waits.
  absl::Status CheckWait(bool is_long, absl::Duration cost,
                         absl::Duration time_left) const;

  // Whether tasks wait for a worker.
  bool has_queue() const;
  int num_threads() const { return static_cast<int>(threads_.size()); }

 private:
  void Run();

  const Options options_;
  mutable Mutex mutex_;
  CondVar work_or_stop_;
  TaskQueue queue_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_WORKER_POOL_H_
