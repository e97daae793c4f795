// The two messages of a unary call, which gRPC keeps until it is done with the
// call: the client has taken the answer (or the kernel its last bytes), or
// the call has been cancelled. So they know when a call is really over.
//
// gRPC tells that to a reactor of ours too, but in another thread: with one,
// gRPC 1.51 would switch threads once more for each call.
#ifndef SEMRANK_SERVER_RPC_UNARY_MESSAGES_H_
#define SEMRANK_SERVER_RPC_UNARY_MESSAGES_H_

#include <google/protobuf/descriptor.h>
#include <grpcpp/impl/codegen/server_callback_handlers.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/message_allocator.h>
#include <grpcpp/support/server_callback.h>

#include "server/rpc/call_tracker.h"

namespace semrank {

class UnaryMessages final
    : public grpc::MessageHolder<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  UnaryMessages();

  // Those of a call whose service is WithUnaryMessages.
  static UnaryMessages& Of(grpc::CallbackServerContext& context);

  // The call counts as running until gRPC is done with it.
  void Begin(CallTracker& calls);
  // Its bytes are needed no more; those of the answer may wait for long.
  void FreeRequest() override { request_.Clear(); }
  // After Begin: the answer, whose call this is, is given to gRPC.
  void AnswerLeaves(grpc_call* call);
  // gRPC is done with the call.
  void Release() override;

 private:
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
  CallTracker* calls_ = nullptr;
  grpc_call* leaving_ = nullptr;
};

class UnaryMessagesAllocator final
    : public grpc::MessageAllocator<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  UnaryMessages* AllocateMessages() override { return new UnaryMessages; }
};

// `Base`, a generated service of the API's `Api`, whose raw unary methods have
// UnaryMessages.
template <typename Api, typename Base>
class WithUnaryMessages : public Base {
 protected:
  WithUnaryMessages() {
    using Handler = grpc::internal::CallbackUnaryHandler<grpc::ByteBuffer,
                                                         grpc::ByteBuffer>;
    const google::protobuf::ServiceDescriptor* const methods =
        google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(
            Api::service_full_name());
    for (int i = 0; i < methods->method_count(); ++i) {
      // Streams have another one.
      auto* const unary = dynamic_cast<Handler*>(this->GetHandler(i));
      if (unary != nullptr) unary->SetMessageAllocator(&allocator_);
    }
  }

 private:
  UnaryMessagesAllocator allocator_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_UNARY_MESSAGES_H_
