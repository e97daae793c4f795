// A unary call whose request and response are small Protobuf messages.
#ifndef SEMRANK_SERVER_RPC_MESSAGE_CALL_H_
#define SEMRANK_SERVER_RPC_MESSAGE_CALL_H_

#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "model/base/status_macros.h"
#include "server/rpc/message_parser.h"
#include "server/rpc/unary_call.h"

namespace semrank {

template <typename Request, typename Response>
class MessageCall final : public UnaryCall {
 public:
  using Handler = std::function<absl::Status(const Request&, Response&)>;

  // Bytes in, parsed request to the handler, response or status out.
  static grpc::ServerUnaryReactor* Start(const RpcEnvironment& environment,
                                         const Metrics::Rpc& rpc,
                                         const RawCall& raw, Handler handler) {
    return UnaryCall::Start(std::unique_ptr<UnaryCall>(
        new MessageCall(environment, rpc, raw, std::move(handler))));
  }

 private:
  MessageCall(const RpcEnvironment& environment, const Metrics::Rpc& rpc,
              const RawCall& raw, Handler handler)
      : UnaryCall(environment, rpc, raw), handler_(std::move(handler)) {}

  absl::StatusOr<std::int64_t> Read(std::string_view bytes) override {
    SEMRANK_RETURN_IF_ERROR(ParseMessage(bytes, request_));
    return 0;  // no texts
  }

  absl::Status Work() override {
    Response response;
    SEMRANK_RETURN_IF_ERROR(handler_(request_, response));
    return SetResponse(response);
  }

  const Handler handler_;
  Request request_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_MESSAGE_CALL_H_
