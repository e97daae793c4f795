// One bidirectional stream from its first message to its status. With services
// the only place that uses gRPC's callback API.
//
//   Reading  one message at a time, and only while fewer than `max_requests`
//            are in flight and less than 1 MiB of answers waits to be written;
//            HTTP/2 flow control then holds the client back, so a stream's
//            memory is bounded.
//   Answers  in the order in which they are made, one write at a time.
//   End      half-close: every request read is answered, then OK. End(status)
//            and a server that stops: requests in flight are answered, then the
//            status; nothing more is read. A cancelled stream: responses are
//            dropped, and requests in flight stop after their slice.
//   Threads  gRPC's and the workers'; one mutex, never held while working.
#ifndef SEMRANK_SERVER_RPC_STREAM_CALL_H_
#define SEMRANK_SERVER_RPC_STREAM_CALL_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>
#include <grpcpp/support/slice.h>

#include <chrono>
#include <deque>
#include <optional>

#include "absl/status/status.h"
#include "model/base/mutex.h"
#include "server/base/caller.h"
#include "server/base/metrics.h"
#include "server/base/request_identity.h"
#include "server/base/request_log.h"
#include "server/requests/methods.h"
#include "server/requests/server_parts.h"
#include "server/rpc/open_calls.h"

namespace semrank {

using RawStreamReactor =
    grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>;

class StreamCall : public RawStreamReactor, public Caller, private OpenStream {
 public:
  absl::Time deadline() const override {
    return absl::FromChrono(context_.deadline());
  }
  bool cancelled() const override { return context_.IsCancelled(); }
  std::string_view name() const override {
    return OpenCalls::CallerOf(context_).name;
  }

  // All arguments must outlive the stream, which deletes itself.
  StreamCall(const Method& method, const ServerParts& parts, OpenCalls& calls,
             const Metrics::Stream& metrics,
             grpc::CallbackServerContext& context);
  // To call once, after construction.
  void Begin();

  // Each message that Take gets must lead to one of these two, from any thread;
  // the stream may delete itself then. `outcome` is only counted; `status` must
  // not be OK.
  void Answer(const absl::Status& outcome, const grpc::ByteBuffer& answer);
  void End(const absl::Status& status);

  // Logs the outcome of a request; its method and identity are the stream's. To
  // call before Answer; an outcome that ends the stream is logged with the
  // stream.
  void Record(RequestLog::Outcome outcome) const;
  RequestLog::Details caller() const;

  const Method& method() const { return method_; }
  const ServerParts& parts() const { return parts_; }
  OpenCalls& calls() { return calls_; }

 private:
  // Takes one message, on gRPC's thread. Several threads may be here at once if
  // the method's requests run concurrently; otherwise the next message comes
  // after the answer.
  virtual void Take(grpc::Slice bytes) = 0;

  absl::Status CheckCall();

  // gRPC calls these.
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

  void EndForStop() override;

  // Ends every change: starts the next read and write if they may start, and
  // finishes the stream when it is over and no request is in flight.
  void UnlockAndContinue() ABSL_UNLOCK_FUNCTION(mutex_);
  // True when the stream is over.
  bool Continue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void StartReadIfRoom() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void StartWriteIfAny() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // To call after answer_bytes_ has changed.
  void CountAnswerBytes() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SetFinalStatus(const absl::Status& status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FinishNow();

  const Method& method_;
  const ServerParts& parts_;
  OpenCalls& calls_;
  const Metrics::Stream& metrics_;
  grpc::CallbackServerContext& context_;
  const int max_requests_;
  const RequestIdentity identity_;
  const std::chrono::steady_clock::time_point begun_;

  grpc::ByteBuffer incoming_;  // of the read that is pending
  Mutex mutex_;
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  int num_in_flight_ ABSL_GUARDED_BY(mutex_) = 0;
  // The front is being written while writing_.
  std::deque<grpc::ByteBuffer> answers_ ABSL_GUARDED_BY(mutex_);
  std::size_t answer_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  // Not null once nothing more is read; the first status stays.
  std::optional<absl::Status> final_status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_STREAM_CALL_H_
