// A fixed crew of threads for one caller's numbered pieces of work: the
// trainer's slices of a mini-batch, the evaluator's slices of a collection.
//
//   Order    which thread runs which piece, and when, is not stated; results
//            must not depend on it.
//   Threads  Run and ParallelFor are called by one thread at a time and never
//            from inside a piece. Idle threads sleep; nothing spins.
#ifndef SEMRANK_MODEL_BASE_THREAD_POOL_H_
#define SEMRANK_MODEL_BASE_THREAD_POOL_H_

#include <functional>
#include <thread>
#include <vector>

#include "model/base/mutex.h"
#include "model/base/work_graph.h"
#include "model/base/work_list.h"

namespace semrank {

class ThreadPool {
 public:
  // The calling thread is one of the crew: num_threads - 1 are started.
  // Values below 1 count as 1.
  explicit ThreadPool(int num_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const { return static_cast<int>(threads_.size()) + 1; }

  // Calls piece(i, worker) once for each i in [0, num_pieces) and returns when
  // all have returned. `worker` in [0, num_threads()) names the thread, for
  // scratch memory that pieces reuse.
  void ParallelFor(int num_pieces,
                   const std::function<void(int piece, int worker)>& piece);

  // Runs the pieces of all stages and returns when all have returned.
  void Run(const WorkGraph& graph);

  // Runs all pieces, then empties the list.
  void Run(WorkList& work);

 private:
  void RunWorker(int worker);
  void RunPieces(int worker) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  CondVar work_or_stop_;  // for the workers
  CondVar work_or_end_;   // for the caller
  // Of the run that there is, which the caller owns.
  WorkSchedule* schedule_ ABSL_GUARDED_BY(mutex_) = nullptr;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

// The number of processors this process may run on, at least 1.
int NumUsableProcessors();

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_THREAD_POOL_H_
