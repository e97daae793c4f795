// One bidirectional stream from its first message to its status. With
// unary_call the only place that knows gRPC's callback API.
//
//   Reading  one message at a time, and only while fewer than `max_requests`
//            are in work and the client takes its answers: what it leaves
//            lying makes gRPC's flow control hold it back, so a stream's memory
//            is bounded.
//   Answers  in the order in which they are made, one write at a time.
//   End      half-close: every request read is answered, then OK. End(status)
//            and a server that stops: what is in work is answered, then the
//            status; nothing more is read. A client that is gone: answers are
//            dropped, work finds out between two state.
//   Threads  gRPC's and the workers'; one mutex, never held while working.
#ifndef SEMRANK_SERVER_RPC_STREAM_CALL_H_
#define SEMRANK_SERVER_RPC_STREAM_CALL_H_

#include <google/protobuf/message_lite.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>
#include <grpcpp/support/slice.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

#include "absl/status/status.h"
#include "model/base/mutex.h"
#include "server/auth/access_control.h"
#include "server/base/caller.h"
#include "server/base/request_identity.h"
#include "server/requests/rpc_environment.h"
#include "server/rpc/call_tracker.h"

namespace semrank {

using RawStreamReactor =
    grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>;

class StreamCall : public RawStreamReactor, public Caller, private OpenStream {
 public:
  absl::Time deadline() const override {
    return absl::FromChrono(context_.deadline());
  }
  bool gone() const override { return context_.IsCancelled(); }

  // Each message taken must lead to one of these two, from any thread; the
  // stream may be gone right after. `outcome` is only counted; `status` must
  // not be OK.
  void Answer(const absl::Status& outcome, const grpc::ByteBuffer& answer);
  void End(const absl::Status& status);

  // Before Answer: what came of request `number`, for the request log. One that
  // ends the stream is in the log with the stream.
  void Record(const absl::Status& outcome, std::uint64_t number,
              absl::Duration time) const;

  const RpcEnvironment& environment() const { return environment_; }

 protected:
  // All arguments must outlive the stream; `max_requests` is at least 1. The
  // derived class calls Begin once it is whole; `role` is what the caller
  // needs.
  StreamCall(const RpcEnvironment& environment, const Metrics::Stream& metrics,
             grpc::CallbackServerContext& context, int max_requests);
  void Begin(Role role = Role::kRead);

 private:
  // Takes one message, on gRPC's thread. With max_requests == 1 the next one
  // comes after the answer; otherwise several threads may be here at once.
  virtual void Take(grpc::Slice bytes) = 0;

  // Reactions of gRPC.
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

  void EndForStop() override;

  // Each under the mutex after whatever has changed: starts what can be
  // started. True when the stream is over: the caller must then call Finish
  // without the mutex, and nothing after it.
  bool Continue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void StartReadIfRoom() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void StartWriteIfAny() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SetFinalStatus(const absl::Status& status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FinishNow();

  const RpcEnvironment& environment_;
  const Metrics::Stream& metrics_;
  grpc::CallbackServerContext& context_;
  const int max_requests_;
  const RequestIdentity identity_;
  const std::chrono::steady_clock::time_point begun_;

  grpc::ByteBuffer incoming_;  // belongs to the read that is under way
  Mutex mutex_;
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  int num_in_work_ ABSL_GUARDED_BY(mutex_) = 0;
  // The front is being written while writing_.
  std::deque<grpc::ByteBuffer> answers_ ABSL_GUARDED_BY(mutex_);
  std::size_t answer_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  // Set once nothing more is read; the first one stays.
  std::optional<absl::Status> final_status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_STREAM_CALL_H_
