// Answers that gRPC was given and their clients have not taken yet. Their
// permits have gone back, so they are counted here, in bytes: above the limit
// no request with texts is taken. A client that takes too long loses its call,
// or it would hold the room of everybody else.
//
//   Time     `answer_time` for each 16 MiB begun. A call's own deadline may end
//            it sooner: gRPC sees to that.
//   Threads  every method, from any thread; a mutex under which nothing else is
//            called.
#ifndef SEMRANK_SERVER_RPC_LEAVING_ANSWERS_H_
#define SEMRANK_SERVER_RPC_LEAVING_ANSWERS_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "model/base/mutex.h"
#include "server/base/limits.h"

struct grpc_call;

namespace semrank {

// So long that honest clients take their answers, also those that stop to
// write what they have to a disk; 140 kB a second for large ones.
inline constexpr absl::Duration kAnswerTime = absl::Minutes(2);

// A vector of the largest dimension that messages are sized for, for each text
// that may be in flight.
inline std::int64_t MaxLeavingBytes(const Limits& limits) {
  return limits.max_inflight_texts * 4 * kSizedEmbeddingDim;
}

class LeavingAnswers {
 public:
  LeavingAnswers(std::int64_t max_bytes, absl::Duration answer_time)
      : max_bytes_(max_bytes), answer_time_(answer_time) {}

  // ResourceExhausted OVERLOADED when there is no room for further answers.
  absl::Status CheckRoom();

  // The call's answer begins its way; at most one of a call at a time.
  void Add(grpc_call* call, std::int64_t num_bytes);
  // More of it, which has the same time.
  void Grow(grpc_call* call, std::int64_t num_bytes);
  // It is taken, or the call is over; before the call goes.
  void Remove(grpc_call* call);

  // Cancels the calls whose answers took too long by `now`; how many.
  int CancelOverdue(absl::Time now);

 private:
  struct Answer {
    std::int64_t num_bytes = 0;
    absl::Time limit;
    bool is_cancelled = false;
  };

  const std::int64_t max_bytes_;
  const absl::Duration answer_time_;
  Mutex mutex_;
  std::int64_t num_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<grpc_call*, Answer> answers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_LEAVING_ANSWERS_H_
