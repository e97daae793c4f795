// One unary call from its bytes to its status. With stream_call the only place
// that uses gRPC's callback API.
//
// It uses gRPC's own reactor (DefaultReactor), which gRPC finishes without
// switching threads; OpenCalls tells when the client has the response.
#ifndef SEMRANK_SERVER_RPC_UNARY_CALL_H_
#define SEMRANK_SERVER_RPC_UNARY_CALL_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>
#include <grpcpp/support/slice.h>

#include <memory>

#include "server/auth/access_control.h"
#include "server/requests/request_run.h"
#include "server/rpc/open_calls.h"

namespace semrank {

// A call as gRPC hands it over. The pointers live until the call is finished.
struct RawCall {
  grpc::CallbackServerContext* context = nullptr;
  const grpc::ByteBuffer* request = nullptr;
  grpc::ByteBuffer* response = nullptr;
  Role role = Role::kRead;  // that the caller needs
};

class UnaryCall final : public RequestRun {
 public:
  // Runs the call; returns what the method must return. `parts`, `calls` and
  // `rpc` must outlive the call.
  static grpc::ServerUnaryReactor* Start(const ServerParts& parts,
                                         OpenCalls& calls,
                                         const Metrics::Rpc& rpc,
                                         const RawCall& raw,
                                         std::unique_ptr<RequestWork> work);

  absl::Time deadline() const override;
  bool cancelled() const override { return raw_.context->IsCancelled(); }

 private:
  UnaryCall(const ServerParts& parts, OpenCalls& calls, const Metrics::Rpc& rpc,
            const RawCall& raw, std::unique_ptr<RequestWork> work);

  void Begin();
  absl::Status CheckBeforeReading();
  absl::Status SerializeResponse(
      const google::protobuf::MessageLite& response) override;
  // Details and trailers, counters and log of the call; deletes it.
  void Done(const absl::Status& status) override;

  OpenCalls& calls_;
  const Metrics::Rpc& rpc_;
  const RawCall raw_;
  grpc::ServerUnaryReactor* const reactor_;
  grpc::Slice bytes_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_UNARY_CALL_H_
