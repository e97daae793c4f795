#include "model/base/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <system_error>

namespace semrank {

ThreadPool::ThreadPool(int num_threads) {
  for (int worker = 1; worker < num_threads; ++worker) {
    try {
      threads_.emplace_back([this, worker] { RunWorker(worker); });
    } catch (const std::system_error&) {
      break;  // The system allows no more threads; a smaller crew works too.
    }
  }
}

ThreadPool::~ThreadPool() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
    work_or_stop_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::ParallelFor(
    int num_pieces, const std::function<void(int piece, int worker)>& piece) {
  WorkGraph graph;
  graph.Add({}, [num_pieces, &piece](WorkList& work) {
    work.Add(num_pieces, std::cref(piece));
  });
  Run(graph);
}

void ThreadPool::Run(WorkList& work) {
  ParallelFor(work.num_pieces(),
              [&work](int piece, int worker) { work.RunPiece(piece, worker); });
  work.Clear();
}

void ThreadPool::Run(const WorkGraph& graph) {
  WorkSchedule schedule(graph);
  MutexLock lock(mutex_);
  schedule_ = &schedule;
  for (;;) {
    RunPieces(/*worker=*/0);
    if (schedule.ended()) break;
    work_or_end_.Wait(mutex_);
  }
  schedule_ = nullptr;
}

void ThreadPool::RunWorker(int worker) {
  MutexLock lock(mutex_);
  while (!stop_) {
    RunPieces(worker);
    // Between the last look for work and here the lock was not given up, so new
    // work cannot have been missed.
    if (!stop_) work_or_stop_.Wait(mutex_);
  }
}

void ThreadPool::RunPieces(int worker) {
  if (schedule_ == nullptr) return;
  while (const std::optional<WorkSchedule::Job> job = schedule_->Take()) {
    if (schedule_->HasWork()) {
      work_or_stop_.NotifyAll();
      work_or_end_.NotifyAll();
    }
    mutex_.Unlock();
    job->work->RunPiece(job->piece, worker);
    mutex_.Lock();
    schedule_->Finish(*job);
  }
  if (schedule_->ended()) work_or_end_.NotifyAll();
}

int NumUsableProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    return std::max(1, CPU_COUNT(&set));
  }
  // More processors than cpu_set_t has bits.
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace semrank
