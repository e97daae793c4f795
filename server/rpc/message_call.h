// A unary call without texts, whose request and response are small Protobuf
// messages.
#ifndef SEMRANK_SERVER_RPC_MESSAGE_CALL_H_
#define SEMRANK_SERVER_RPC_MESSAGE_CALL_H_

#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "model/base/status_macros.h"
#include "server/requests/message_parser.h"
#include "server/rpc/unary_call.h"

namespace semrank {

template <typename Request, typename Response>
class MessageCall final : public RequestWork {
 public:
  using Handler = std::function<absl::Status(const Request&, Response&)>;

  // Bytes in, parsed request to the handler, response or status out. A handler
  // that may block needs a `pool` to do so. Reading calls are answered while
  // the first models load, calls that change something are not.
  static grpc::ServerUnaryReactor* Start(const RpcEnvironment& environment,
                                         const Metrics::Rpc& rpc,
                                         const RawCall& raw, Handler handler,
                                         WorkerPool* pool = nullptr) {
    return UnaryCall::Start(
        environment, rpc, raw,
        std::unique_ptr<RequestWork>(new MessageCall(std::move(handler), pool,
                                                     raw.role != Role::kRead)));
  }

 private:
  MessageCall(Handler handler, WorkerPool* pool, bool needs_model)
      : handler_(std::move(handler)), pool_(pool), needs_model_(needs_model) {}

  absl::Status Read(std::string_view bytes) override {
    return ParseMessage(bytes, request_);
  }
  absl::StatusOr<Progress> Advance(const RequestRun& /*run*/) override {
    SEMRANK_RETURN_IF_ERROR(handler_(request_, response_));
    return Progress::kDone;
  }
  const google::protobuf::MessageLite& response() const override {
    return response_;
  }

  WorkerPool* pool() const override { return pool_; }
  bool needs_model() const override { return needs_model_; }

  const Handler handler_;
  WorkerPool* const pool_;
  const bool needs_model_;
  Request request_;
  Response response_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_MESSAGE_CALL_H_
