// How many calls are being read, answered or sent; lets a server that stops
// wait for the last one.
//
//   Threads  every method, from any thread.
#ifndef SEMRANK_SERVER_HTTP_CALLS_IN_HAND_H_
#define SEMRANK_SERVER_HTTP_CALLS_IN_HAND_H_

#include <algorithm>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "model/base/mutex.h"

namespace semrank {

class CallsInHand {
 public:
  // One call, for as long as this lives.
  class Call {
   public:
    explicit Call(CallsInHand& calls) : calls_(calls) { calls_.Begin(); }
    ~Call() { calls_.End(); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    CallsInHand& calls_;
  };

  // False when there still are some at `limit`.
  bool WaitUntilNone(absl::Time limit) {
    const MutexLock lock(mutex_);
    while (num_calls_ > 0) {
      const absl::Duration left = limit - absl::Now();
      if (left <= absl::ZeroDuration()) return false;
      none_.WaitFor(mutex_,
                    absl::ToChronoNanoseconds(std::min(left, absl::Hours(1))));
    }
    return true;
  }

 private:
  void Begin() {
    const MutexLock lock(mutex_);
    ++num_calls_;
  }
  void End() {
    const MutexLock lock(mutex_);
    if (--num_calls_ == 0) none_.NotifyAll();
  }

  Mutex mutex_;
  CondVar none_;
  int num_calls_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_HTTP_CALLS_IN_HAND_H_
