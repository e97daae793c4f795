// Counts calls between their first and their last step, so that a server that
// stops can tell its own calls from streams that never end by themselves
// (health Watch, reflection), and tells our own streams to end.
//
//   Threads  every method, from any thread.
#ifndef SEMRANK_SERVER_RPC_CALL_TRACKER_H_
#define SEMRANK_SERVER_RPC_CALL_TRACKER_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <unordered_set>

#include "absl/time/time.h"
#include "server/rpc/leaving_answers.h"

namespace semrank {

// A stream that stays open until its client has no more to say.
class OpenStream {
 public:
  virtual ~OpenStream() = default;
  // Answer what has been read, then end. Must not call the tracker.
  virtual void EndForStop() = 0;
};

class CallTracker {
 public:
  CallTracker(std::int64_t max_leaving_bytes, absl::Duration answer_time)
      : leaving_(max_leaving_bytes, answer_time) {}

  LeavingAnswers& leaving() { return leaving_; }

  void Begin() {
    const std::lock_guard lock(mutex_);
    ++num_calls_;
  }
  void End() {
    const std::lock_guard lock(mutex_);
    EndLocked();
  }

  void Begin(OpenStream* stream) {
    const std::lock_guard lock(mutex_);
    ++num_calls_;
    streams_.insert(stream);
  }
  void End(OpenStream* stream) {
    const std::lock_guard lock(mutex_);
    streams_.erase(stream);
    EndLocked();
  }

  void EndStreams() {
    const std::lock_guard lock(mutex_);
    for (OpenStream* stream : streams_) stream->EndForStop();
  }

  // False when calls are still running at `deadline`.
  bool WaitUntilIdle(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    return idle_.wait_until(lock, deadline, [&] { return num_calls_ == 0; });
  }

 private:
  void EndLocked() {
    if (--num_calls_ == 0) idle_.notify_all();
  }

  LeavingAnswers leaving_;
  std::mutex mutex_;
  std::condition_variable idle_;
  int num_calls_ = 0;
  std::unordered_set<OpenStream*> streams_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_CALL_TRACKER_H_
