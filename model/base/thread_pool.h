// Fixed worker pool for numbered, independent tasks of one caller, such as the
// trainer's slices of a mini-batch or the evaluator's slices of a collection.
//
//   Order    unspecified: which worker runs which task, and when. Results must
//            not depend on it.
//   Threads  Run and ParallelFor are called by one thread at a time, never from
//            inside a task. Idle workers sleep on a condition variable; nothing
//            spins.
#ifndef SEMRANK_MODEL_BASE_THREAD_POOL_H_
#define SEMRANK_MODEL_BASE_THREAD_POOL_H_

#include <functional>
#include <thread>
#include <vector>

#include "model/base/mutex.h"
#include "model/base/task_graph.h"

namespace semrank {

class ThreadPool {
 public:
  // Starts num_threads - 1 threads: the calling thread is worker 0. Values
  // below 1 count as 1. When the system refuses a thread, the pool is smaller.
  explicit ThreadPool(int num_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const { return static_cast<int>(threads_.size()) + 1; }

  // Calls task(i, worker) once for each i in [0, num_tasks) and returns when
  // all calls have returned. `worker` in [0, num_threads()) identifies the
  // thread, so that each worker can reuse scratch memory of its own.
  void ParallelFor(int num_tasks,
                   const std::function<void(int task, int worker)>& task);

  // Runs the tasks of all stages and returns when the last has returned.
  void Run(const TaskGraph& graph);

  // Runs all tasks of the list, then clears it.
  void Run(TaskList& tasks);

 private:
  void RunWorker(int worker);
  void RunTasks(int worker) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  CondVar work_or_stop_;  // the workers wait for it
  CondVar work_or_end_;   // the caller of Run waits for it
  // The run in progress, on the caller's stack; null between runs.
  TaskSchedule* schedule_ ABSL_GUARDED_BY(mutex_) = nullptr;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

// The number of processors this process may run on, at least 1.
int NumUsableProcessors();

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_THREAD_POOL_H_
