#include "server/rpc/embedding_service.h"

#include <memory>

#include "server/requests/embed_work.h"
#include "server/rpc/embed_texts_stream.h"

namespace semrank {
namespace {

constexpr char kEmbeddingService[] = "semrank.v1.EmbeddingService";

}  // namespace

EmbeddingService::EmbeddingService(const RpcEnvironment& environment)
    : environment_(environment),
      embed_texts_(environment.metrics->AddRpc(kEmbeddingService, "EmbedTexts",
                                               "unary")),
      embed_texts_stream_(environment.metrics->AddStream(kEmbeddingService,
                                                         "EmbedTextsStream")) {}

grpc::ServerUnaryReactor* EmbeddingService::EmbedTexts(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* response) {
  return UnaryCall::Start(environment_, embed_texts_,
                          {context, request, response},
                          std::make_unique<EmbedWork>(environment_));
}

RawStreamReactor* EmbeddingService::EmbedTextsStream(
    grpc::CallbackServerContext* context) {
  return EmbedTextsStream::Start(environment_, embed_texts_stream_, *context);
}

}  // namespace semrank
