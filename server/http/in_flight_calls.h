// Counts the calls whose response is not sent yet, so that a server that stops
// can wait for them.
#ifndef SEMRANK_SERVER_HTTP_IN_FLIGHT_CALLS_H_
#define SEMRANK_SERVER_HTTP_IN_FLIGHT_CALLS_H_

#include "absl/time/time.h"
#include "model/base/mutex.h"

namespace semrank {

// Thread-safe.
class InFlightCalls {
 public:
  void Begin();
  void End();
  // False when there still are some at `limit`.
  bool WaitUntilNone(absl::Time limit);

 private:
  Mutex mutex_;
  CondVar none_;
  int num_calls_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_HTTP_IN_FLIGHT_CALLS_H_
