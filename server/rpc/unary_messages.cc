#include "server/rpc/unary_messages.h"

#include <cstdint>
#include <memory>

namespace semrank {
namespace {

// What a call costs in the library beside its messages.
constexpr std::int64_t kCallBytes = 8'192;

}  // namespace

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

void UnaryMessages::AnswerLeaves(grpc_call* call) {
  leaving_ = call;
  calls_->leaving().Add(
      call, static_cast<std::int64_t>(response_.Length()) + kCallBytes);
}

void UnaryMessages::Release() {
  const std::unique_ptr<UnaryMessages> self(this);
  if (leaving_ != nullptr) calls_->leaving().Remove(leaving_);
  if (calls_ != nullptr) calls_->End();
}

}  // namespace semrank
