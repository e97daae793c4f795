// The calls that are open: until the client has read the response (or the
// kernel has taken its last bytes), or the call was cancelled.
//
//   Memory   responses that clients have not read are counted in bytes; while
//            there are `max_unsent_bytes` of them, no further request with
//            texts is accepted.
//   Time     a call whose client does not read its response in `send_time` for
//            each 16 MiB begun is cancelled, so that it cannot hold that
//            memory. gRPC may end it sooner, at the call's own deadline.
//   Stop     open streams are asked to end, and a stop waits for our own calls
//            only, not for streams that never end by themselves (health Watch,
//            reflection).
//   Threads  all methods are thread-safe.
#ifndef SEMRANK_SERVER_RPC_OPEN_CALLS_H_
#define SEMRANK_SERVER_RPC_OPEN_CALLS_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "model/base/mutex.h"
#include "server/base/limits.h"

namespace grpc {
class CallbackServerContext;
class ContextAllocator;
}  // namespace grpc

namespace semrank {

class CallContext;

// Long enough for honest clients, also for those that pause to write to a disk;
// large responses may arrive at 140 kB a second.
inline constexpr absl::Duration kSendTime = absl::Minutes(2);

// A vector of the largest dimension that messages are sized for, for each text
// that may be in flight.
inline std::int64_t MaxUnsentBytes(const Limits& limits) {
  return limits.max_inflight_texts * 4 * kSizedEmbeddingDim;
}

// A stream that stays open until its client half-closes it.
class OpenStream {
 public:
  virtual ~OpenStream() = default;
  // Answers the requests that have been read, then ends.
  virtual void EndForStop() = 0;
};

class OpenCalls {
 public:
  OpenCalls(std::int64_t max_unsent_bytes, absl::Duration send_time)
      : max_unsent_bytes_(max_unsent_bytes), send_time_(send_time) {}

  // For grpc::ServerBuilder. The OpenCalls must outlive the server.
  static std::unique_ptr<grpc::ContextAllocator> MakeContexts();

  // The first step of each of our calls; `stream` is null for unary calls.
  // Unavailable DRAINING once the server stops; the call still counts as open.
  absl::Status Begin(grpc::CallbackServerContext& call,
                     OpenStream* stream = nullptr);
  // To call before the stream is destroyed. Waits for its EndForStop.
  void RemoveStream(OpenStream* stream);

  // ResourceExhausted OVERLOADED while there is no room for further responses.
  absl::Status CheckRoom() const;
  // Sets the bytes that gRPC holds for the call until the client reads them.
  // The time begins when there are any, and again whenever they become fewer.
  void SetUnsentBytes(grpc::CallbackServerContext& call, std::int64_t bytes);
  // Cancels the calls whose time is over at `now`; returns how many. To call
  // from one thread.
  int CancelOverdue(absl::Time now);

  // Ends open streams; Begin fails from here on.
  void EndStreams();
  // False when calls are still open at `deadline`.
  bool WaitUntilIdle(std::chrono::steady_clock::time_point deadline);

 private:
  friend class CallContext;
  void End(CallContext& call);
  void SetUnsentLocked(CallContext& call, std::int64_t bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::int64_t max_unsent_bytes_;
  const absl::Duration send_time_;

  // EndStreams holds it while streams end, which may call SetUnsentBytes.
  Mutex streams_mutex_;
  bool stopping_ ABSL_GUARDED_BY(streams_mutex_) = false;
  absl::flat_hash_set<OpenStream*> streams_ ABSL_GUARDED_BY(streams_mutex_);

  // Guards what follows and the fields of the contexts.
  Mutex mutex_;
  CondVar changed_;
  absl::flat_hash_set<CallContext*> open_ ABSL_GUARDED_BY(mutex_);
  // The call that `cutter_` is cancelling, without the mutex, since gRPC may
  // end it within TryCancel. Its context is not released by another thread
  // before that is over.
  CallContext* being_cut_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::thread::id cutter_ ABSL_GUARDED_BY(mutex_);
  std::atomic<std::int64_t> unsent_bytes_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_OPEN_CALLS_H_
