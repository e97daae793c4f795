#include "server/rpc/embedding_service.h"

#include <memory>
#include <vector>

#include "model/base/status_macros.h"
#include "server/core/vector_encoding.h"
#include "server/rpc/request_reader.h"
#include "server/rpc/response_fields.h"

namespace semrank {
namespace {

constexpr char kService[] = "semrank.v1.EmbeddingService";

void EncodeVectors(const std::vector<float>& vectors, int dim,
                   v1::VectorEncoding encoding,
                   v1::EmbedTextsResponse& response) {
  std::string& bytes = *response.mutable_vectors();
  if (encoding == v1::VECTOR_ENCODING_FLOAT16) {
    EncodeFloat16(vectors, bytes);
  } else if (encoding == v1::VECTOR_ENCODING_INT8) {
    std::vector<float> scales;
    EncodeInt8(vectors, dim, bytes, scales);
    response.mutable_scales()->Add(scales.begin(), scales.end());
  } else {
    EncodeFloat32(vectors, bytes);
  }
  response.set_embedding_dim(dim);
  response.set_encoding(encoding);
}

class EmbedTextsCall final : public UnaryCall {
 public:
  using UnaryCall::UnaryCall;

 private:
  absl::StatusOr<std::int64_t> Read(std::string_view bytes) override {
    const RankingEngine& engine = *environment().engine;
    SEMRANK_RETURN_IF_ERROR(
        ReadEmbedTextsRequest(bytes, engine.limits(), message_));
    SEMRANK_ASSIGN_OR_RETURN(
        served_, environment().models->Find(message_.model.name(),
                                            message_.model.version()));
    SEMRANK_RETURN_IF_ERROR(engine.CheckEmbed(message_.input));
    return static_cast<std::int64_t>(message_.texts.size());
  }

  absl::Status Work() override {
    EmbedResult result;
    SEMRANK_RETURN_IF_ERROR(
        environment().engine->Embed(*served_, message_.input, *this, result));
    v1::EmbedTextsResponse response;
    EncodeVectors(result.vectors, served_->model->embedding_dim(),
                  message_.encoding, response);
    AddOwnTimes(result.times);
    SetFacts(*served_, result.cache, result.times, TimeSinceReceived(),
             response);
    return SetResponse(response);
  }

  EmbedMessage message_;
  ServedModelPtr served_;
};

}  // namespace

EmbeddingService::EmbeddingService(const RpcEnvironment& environment)
    : environment_(environment),
      embed_texts_(
          environment.metrics->AddRpc(kService, "EmbedTexts", "unary")),
      embed_texts_stream_(environment.metrics->AddRpc(
          kService, "EmbedTextsStream", "bidi_stream")) {}

grpc::ServerUnaryReactor* EmbeddingService::EmbedTexts(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* response) {
  return UnaryCall::Start(std::make_unique<EmbedTextsCall>(
      environment_, embed_texts_, RawCall{context, request, response}));
}

RawStreamReactor* EmbeddingService::EmbedTextsStream(
    grpc::CallbackServerContext* /*context*/) {
  return AnswerUnimplementedStream("EmbeddingService.EmbedTextsStream",
                                   embed_texts_stream_);
}

}  // namespace semrank
