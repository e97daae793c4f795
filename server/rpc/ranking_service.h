// semrank.v1.RankingService.
#ifndef SEMRANK_SERVER_RPC_RANKING_SERVICE_H_
#define SEMRANK_SERVER_RPC_RANKING_SERVICE_H_

#include "semrank/v1/ranking_service.grpc.pb.h"
#include "server/rpc/stream_call.h"
#include "server/rpc/unary_call.h"
#include "server/rpc/unary_messages.h"

namespace semrank {

using RankingServiceBase = v1::RankingService::WithRawCallbackMethod_Rank<
    v1::RankingService::WithRawCallbackMethod_RankStream<
        v1::RankingService::WithRawCallbackMethod_Explain<
            v1::RankingService::Service>>>;

class RankingService final
    : public WithUnaryMessages<v1::RankingService, RankingServiceBase> {
 public:
  explicit RankingService(const RpcEnvironment& environment);

  grpc::ServerUnaryReactor* Rank(grpc::CallbackServerContext* context,
                                 const grpc::ByteBuffer* request,
                                 grpc::ByteBuffer* response) override;
  RawStreamReactor* RankStream(grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* Explain(grpc::CallbackServerContext* context,
                                    const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* response) override;

 private:
  const RpcEnvironment environment_;
  const Metrics::Rpc rank_;
  const Metrics::Stream rank_stream_;
  const Metrics::Rpc explain_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_RANKING_SERVICE_H_
