// One unary call from its bytes to its status: the only place that knows
// gRPC's callback API. What a method does is in two steps of a derived class.
//
//   begin    on gRPC's thread: count, is the server answering, Read, admit
//   run      there, or in the worker pool for a large request: does the caller
//            still wait, Work
//   finish   details and trailers, counters of the outcome, permit back
//
// gRPC's own reactor is used (DefaultReactor): with one of ours gRPC 1.51
// would switch threads once more for each call.
#ifndef SEMRANK_SERVER_RPC_UNARY_CALL_H_
#define SEMRANK_SERVER_RPC_UNARY_CALL_H_

#include <google/protobuf/message_lite.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>
#include <grpcpp/support/slice.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/core/caller.h"
#include "server/core/stage_times.h"
#include "server/rpc/rpc_environment.h"

namespace semrank {

// A call as gRPC hands it over. The pointers live until the call is finished.
struct RawCall {
  grpc::CallbackServerContext* context = nullptr;
  const grpc::ByteBuffer* request = nullptr;
  grpc::ByteBuffer* response = nullptr;
};

class UnaryCall : public Caller {
 public:
  // Requests above either size leave gRPC's thread. Below, they take at most a
  // few milliseconds even when nothing is cached, and the switch of threads
  // would cost more than most of them.
  static constexpr std::int64_t kMaxInlineTexts = 1'024;
  static constexpr std::size_t kMaxInlineBytes = std::size_t{128} << 10;

  // `rpc` and `environment` must outlive the call.
  UnaryCall(const RpcEnvironment& environment, const Metrics::Rpc& rpc,
            const RawCall& raw);

  // Runs the call; it deletes itself. Returns what the method must return.
  static grpc::ServerUnaryReactor* Start(std::unique_ptr<UnaryCall> call);

  absl::Time deadline() const override;
  bool gone() const override { return raw_.context->IsCancelled(); }

 protected:
  // Decodes and checks what is cheap to check; returns the number of texts to
  // admit. `bytes` stays valid until the call is finished. Must not take long.
  virtual absl::StatusOr<std::int64_t> Read(std::string_view bytes) = 0;
  // Makes the response, usually by SetResponse.
  virtual absl::Status Work() = 0;

  // Serialises; Internal when the message is too large for Protobuf.
  absl::Status SetResponse(const google::protobuf::MessageLite& message);

  const RpcEnvironment& environment() const { return environment_; }
  // What the call itself took before Work: reading and waiting.
  void AddOwnTimes(StageTimes& times) const;
  absl::Duration TimeSinceReceived() const;

 private:
  void Begin();
  absl::Status ReadAndAdmit();
  void Run();
  void FinishAndDelete(const absl::Status& status);

  const RpcEnvironment& environment_;
  const Metrics::Rpc& rpc_;
  const RawCall raw_;
  const std::chrono::steady_clock::time_point received_;
  grpc::ServerUnaryReactor* const reactor_;
  grpc::Slice bytes_;
  Admission::Permit permit_;
  std::int64_t num_texts_ = 0;
  absl::Duration read_time_;
  absl::Duration queue_time_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_UNARY_CALL_H_
