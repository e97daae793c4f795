#include "model/base/thread_pool.h"

#include <sched.h>

#include <algorithm>
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
  if (num_pieces <= 0) return;
  MutexLock lock(mutex_);
  piece_ = &piece;
  next_piece_ = 0;
  num_pieces_ = num_pieces;
  num_unfinished_ = num_pieces;
  if (num_pieces > 1) work_or_stop_.NotifyAll();
  RunPieces(/*worker=*/0);
  while (num_unfinished_ > 0) all_done_.Wait(mutex_);
  piece_ = nullptr;
}

void ThreadPool::RunWorker(int worker) {
  MutexLock lock(mutex_);
  while (!stop_) {
    RunPieces(worker);
    // Between the last piece and here the lock was not given up, so a new
    // ParallelFor cannot have been missed.
    if (!stop_) work_or_stop_.Wait(mutex_);
  }
}

void ThreadPool::RunPieces(int worker) {
  while (next_piece_ < num_pieces_) {
    const int index = next_piece_++;
    const std::function<void(int, int)>& piece = *piece_;
    mutex_.Unlock();
    piece(index, worker);
    mutex_.Lock();
    if (--num_unfinished_ == 0) all_done_.NotifyAll();
  }
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
