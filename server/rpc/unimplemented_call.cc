#include "server/rpc/unimplemented_call.h"

#include "absl/time/time.h"
#include "server/core/errors.h"
#include "server/rpc/status_mapping.h"

namespace semrank {
namespace {

grpc::Status CountAndRefuse(std::string_view method, const Metrics::Rpc& rpc) {
  const absl::Status status = NotImplemented(method);
  rpc.Started();
  rpc.Handled(status.code(), absl::ZeroDuration());
  return ToGrpcStatus(status);
}

// Ends a stream before its first message; deletes itself.
class FinishedStream final : public RawStreamReactor {
 public:
  explicit FinishedStream(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

}  // namespace

grpc::ServerUnaryReactor* AnswerUnimplemented(
    std::string_view method, const Metrics::Rpc& rpc,
    grpc::CallbackServerContext* context) {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  reactor->Finish(CountAndRefuse(method, rpc));
  return reactor;
}

RawStreamReactor* AnswerUnimplementedStream(std::string_view method,
                                            const Metrics::Rpc& rpc) {
  return new FinishedStream(CountAndRefuse(method, rpc));
}

}  // namespace semrank
