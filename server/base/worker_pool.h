// Threads for large requests, so that gRPC's threads stay free for small ones.
// First in, first out; a large request is queued again after each of its
// slices, so several share the threads evenly. The queue is bounded by
// admission, since queued work holds its permits.
//
//   Threads  Submit from any thread.
#ifndef SEMRANK_SERVER_BASE_WORKER_POOL_H_
#define SEMRANK_SERVER_BASE_WORKER_POOL_H_

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "model/base/mutex.h"

namespace semrank {

class WorkerPool {
 public:
  // At least one thread is started.
  explicit WorkerPool(int num_threads);
  // Runs what is queued, then joins.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  void Submit(std::function<void()> work);
  int num_threads() const { return static_cast<int>(threads_.size()); }

 private:
  void Run();

  Mutex mutex_;
  CondVar work_or_stop_;
  std::deque<std::function<void()>> queue_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_WORKER_POOL_H_
