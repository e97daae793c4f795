// semrank.v1.EmbeddingService.
#ifndef SEMRANK_SERVER_RPC_EMBEDDING_SERVICE_H_
#define SEMRANK_SERVER_RPC_EMBEDDING_SERVICE_H_

#include "semrank/v1/embedding_service.grpc.pb.h"
#include "server/rpc/stream_call.h"
#include "server/rpc/unary_call.h"
#include "server/rpc/unary_messages.h"

namespace semrank {

using EmbeddingServiceBase =
    v1::EmbeddingService::WithRawCallbackMethod_EmbedTexts<
        v1::EmbeddingService::WithRawCallbackMethod_EmbedTextsStream<
            v1::EmbeddingService::Service>>;

class EmbeddingService final
    : public WithUnaryMessages<v1::EmbeddingService, EmbeddingServiceBase> {
 public:
  explicit EmbeddingService(const RpcEnvironment& environment);

  grpc::ServerUnaryReactor* EmbedTexts(grpc::CallbackServerContext* context,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* response) override;
  RawStreamReactor* EmbedTextsStream(
      grpc::CallbackServerContext* context) override;

 private:
  const RpcEnvironment environment_;
  const Metrics::Rpc embed_texts_;
  const Metrics::Stream embed_texts_stream_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_EMBEDDING_SERVICE_H_
