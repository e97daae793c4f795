#include "server/rpc/ranking_service.h"

#include <memory>
#include <string>

#include "model/base/status_macros.h"
#include "server/rpc/request_reader.h"
#include "server/rpc/response_fields.h"
#include "server/rpc/status_mapping.h"

namespace semrank {
namespace {

constexpr char kService[] = "semrank.v1.RankingService";

class RankCall final : public UnaryCall {
 public:
  using UnaryCall::UnaryCall;

 private:
  absl::StatusOr<std::int64_t> Read(std::string_view bytes) override {
    const RankingEngine& engine = *environment().engine;
    SEMRANK_RETURN_IF_ERROR(ReadRankRequest(bytes, engine.limits(), message_));
    SEMRANK_ASSIGN_OR_RETURN(
        served_, environment().models->Find(message_.model.name(),
                                            message_.model.version()));
    SEMRANK_RETURN_IF_ERROR(engine.CheckRank(*served_, message_.input));
    const std::size_t num_vectors =
        message_.input.vectors.size() /
        (sizeof(float) * served_->model->embedding_dim());
    return static_cast<std::int64_t>(1 + message_.titles.size() + num_vectors);
  }

  absl::Status Work() override {
    RankResult result;
    SEMRANK_RETURN_IF_ERROR(
        environment().engine->Rank(*served_, message_.input, *this, result));
    v1::RankResponse response;
    FillRanking(result, response);
    response.set_score_kind(served_->model->config().score_kind());
    AddOwnTimes(result.times);
    SetFacts(*served_, result.cache, result.times, TimeSinceReceived(),
             response);
    return SetResponse(response);
  }

  void FillRanking(const RankResult& result, v1::RankResponse& response) const {
    const int size = static_cast<int>(result.ranking.size());
    response.mutable_indices()->Reserve(size);
    response.mutable_scores()->Reserve(size);
    for (const RankedDocument& document : result.ranking) {
      response.mutable_indices()->AddAlreadyReserved(document.index);
      response.mutable_scores()->AddAlreadyReserved(document.score);
    }
    for (const CandidateProblem& problem : result.problems) {
      v1::Problem& out = *response.add_problems();
      out.set_index(problem.index);
      *out.mutable_status() = ToRpcStatus(problem.status);
    }
    if (!message_.with_titles) return;
    for (const RankedDocument& document : result.ranking) {
      const bool has_title = document.index < message_.titles.size();
      response.add_titles(
          std::string(has_title ? message_.titles[document.index] : ""));
    }
  }

  RankMessage message_;
  ServedModelPtr served_;
};

}  // namespace

RankingService::RankingService(const RpcEnvironment& environment)
    : environment_(environment),
      rank_(environment.metrics->AddRpc(kService, "Rank", "unary")),
      rank_stream_(
          environment.metrics->AddRpc(kService, "RankStream", "bidi_stream")),
      explain_(environment.metrics->AddRpc(kService, "Explain", "unary")) {}

grpc::ServerUnaryReactor* RankingService::Rank(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* response) {
  return UnaryCall::Start(std::make_unique<RankCall>(
      environment_, rank_, RawCall{context, request, response}));
}

RawStreamReactor* RankingService::RankStream(
    grpc::CallbackServerContext* /*context*/) {
  return AnswerUnimplementedStream("RankingService.RankStream", rank_stream_);
}

grpc::ServerUnaryReactor* RankingService::Explain(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* /*request*/,
    grpc::ByteBuffer* /*response*/) {
  return AnswerUnimplemented("RankingService.Explain", explain_, context);
}

}  // namespace semrank
