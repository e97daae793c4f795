// The calls that are open: until the client has read the response (or the
// kernel has taken its last bytes), or the call was cancelled.
//
//   Memory   responses that clients have not read are counted in bytes
//            (UnreadResponses). Over its limit the largest responses of the
//            connection that holds most are cancelled; at twice the limit,
//            which is not reached unless cancelling is slow, no further request
//            with texts is accepted.
//   Time     a call is cancelled when its connection reads no response as a
//            whole in `send_timeout` for each MiB begun of the call's own, so
//            that it cannot hold that memory: gRPC does not report smaller
//            progress. gRPC may end it sooner, at the call's own deadline.
//   Stop     open streams are asked to end, and a stop waits for our own calls
//            only, not for streams that never end by themselves (health Watch,
//            reflection).
//   Threads  all methods are thread-safe.
#ifndef SEMRANK_SERVER_RPC_OPEN_CALLS_H_
#define SEMRANK_SERVER_RPC_OPEN_CALLS_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "model/base/mutex.h"
#include "server/base/caller.h"
#include "server/base/unread_responses.h"

namespace grpc {
class CallbackServerContext;
class ContextAllocator;
}  // namespace grpc

namespace semrank {

class AccessControl;
class CallContext;

// A stream that stays open until its client half-closes it.
class OpenStream {
 public:
  virtual ~OpenStream() = default;
  // Answers the requests that have been read, then ends.
  virtual void EndForStop() = 0;
};

class OpenCalls {
 public:
  // `unread` must outlive the calls.
  OpenCalls(UnreadResponses* unread, absl::Duration send_timeout)
      : unread_(*unread), send_timeout_(send_timeout) {}

  // For grpc::ServerBuilder. The OpenCalls must outlive the server.
  static std::unique_ptr<grpc::ContextAllocator> MakeContexts();

  // The first step of each of our calls; `stream` is null for unary calls.
  // Unavailable DRAINING once the server stops; the call still counts as open.
  absl::Status Begin(grpc::CallbackServerContext& call,
                     OpenStream* stream = nullptr);
  // Names the caller, whose key has been checked; `access` is null where calls
  // need no key. Before this the call's caller has no name.
  static void SetCaller(grpc::CallbackServerContext& call,
                        const AccessControl* access);
  // Valid as long as the call.
  static const CallerId& CallerOf(const grpc::CallbackServerContext& call);

  // To call before the stream is destroyed. Waits for its EndForStop.
  void RemoveStream(OpenStream* stream);

  // ResourceExhausted OVERLOADED while there is no room for further responses.
  absl::Status CheckRoom() const;
  // Sets the bytes that gRPC holds for the call until the client reads them.
  // The time begins when there are any, and again whenever the client has read
  // something.
  void SetUnsentBytes(grpc::CallbackServerContext& call, std::int64_t bytes);
  // Cancels the calls whose time is over at `now`, or the largest ones of the
  // account that is to free bytes; returns how many. To call from one thread.
  int CancelOverdue(absl::Time now);
  int CancelExcess();

  // Ends open streams; Begin fails from here on.
  void EndStreams();
  // False when calls are still open at `deadline`.
  bool WaitUntilIdle(std::chrono::steady_clock::time_point deadline);

 private:
  friend class CallContext;
  void End(CallContext& call);
  void SetUnsentLocked(CallContext& call, std::int64_t bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsOverdue(const CallContext& call, absl::Time now) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The largest calls of the account, which hold what is to be freed.
  std::vector<CallContext*> ChooseLargest(const UnreadResponses::Excess& excess)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Marks the calls as cut; their bytes count no more.
  void MarkCut(const std::vector<CallContext*>& calls)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Cancel(const std::vector<CallContext*>& calls);

  UnreadResponses& unread_;
  const absl::Duration send_timeout_;

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
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_OPEN_CALLS_H_
