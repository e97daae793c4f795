#include "server/rpc/unary_messages.h"

#include <memory>

namespace semrank {

UnaryMessages::UnaryMessages() {
  set_request(&request_);
  set_response(&response_);
}

UnaryMessages& UnaryMessages::Of(grpc::CallbackServerContext& context) {
  return static_cast<UnaryMessages&>(*context.GetRpcAllocatorState());
}

void UnaryMessages::Begin(CallTracker& calls) {
  calls_ = &calls;
  calls_->Begin();
}

void UnaryMessages::Release() {
  const std::unique_ptr<UnaryMessages> self(this);
  if (calls_ != nullptr) calls_->End();
}

}  // namespace semrank
