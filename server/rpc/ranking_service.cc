#include "server/rpc/ranking_service.h"

#include <memory>

#include "server/requests/explain_work.h"
#include "server/requests/rank_work.h"
#include "server/rpc/rank_stream.h"

namespace semrank {
namespace {

constexpr char kRankingService[] = "semrank.v1.RankingService";

}  // namespace

RankingService::RankingService(const RpcEnvironment& environment)
    : environment_(environment),
      rank_(environment.metrics->AddRpc(kRankingService, "Rank", "unary")),
      rank_stream_(
          environment.metrics->AddStream(kRankingService, "RankStream")),
      explain_(
          environment.metrics->AddRpc(kRankingService, "Explain", "unary")) {}

grpc::ServerUnaryReactor* RankingService::Rank(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* response) {
  return UnaryCall::Start(environment_, rank_, {context, request, response},
                          std::make_unique<RankWork>(environment_));
}

RawStreamReactor* RankingService::RankStream(
    grpc::CallbackServerContext* context) {
  return RankStream::Start(environment_, rank_stream_, *context);
}

grpc::ServerUnaryReactor* RankingService::Explain(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* response) {
  return UnaryCall::Start(environment_, explain_, {context, request, response},
                          std::make_unique<ExplainWork>(environment_));
}

}  // namespace semrank
