// Counts calls between their first and their last step, so that a server that
// stops can tell its own calls from streams that never end by themselves
// (health Watch, reflection).
//
//   Threads  every method, from any thread.
#ifndef SEMRANK_SERVER_RPC_CALL_TRACKER_H_
#define SEMRANK_SERVER_RPC_CALL_TRACKER_H_

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace semrank {

class CallTracker {
 public:
  void Begin() {
    const std::lock_guard lock(mutex_);
    ++num_calls_;
  }
  void End() {
    const std::lock_guard lock(mutex_);
    if (--num_calls_ == 0) idle_.notify_all();
  }

  // False when calls are still running at `deadline`.
  bool WaitUntilIdle(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    return idle_.wait_until(lock, deadline, [&] { return num_calls_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable idle_;
  int num_calls_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_CALL_TRACKER_H_
