// semrank.v1.ModelService.
#ifndef SEMRANK_SERVER_RPC_MODEL_SERVICE_H_
#define SEMRANK_SERVER_RPC_MODEL_SERVICE_H_

#include "semrank/v1/model_service.grpc.pb.h"
#include "server/rpc/unary_call.h"
#include "server/rpc/unary_messages.h"

namespace semrank {

using ModelServiceBase = v1::ModelService::WithRawCallbackMethod_GetModel<
    v1::ModelService::WithRawCallbackMethod_ListModels<
        v1::ModelService::WithRawCallbackMethod_ReloadModel<
            v1::ModelService::WithRawCallbackMethod_GetLimits<
                v1::ModelService::Service>>>>;

class ModelService final
    : public WithUnaryMessages<v1::ModelService, ModelServiceBase> {
 public:
  explicit ModelService(const RpcEnvironment& environment);

  grpc::ServerUnaryReactor* GetModel(grpc::CallbackServerContext* context,
                                     const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* ListModels(grpc::CallbackServerContext* context,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* ReloadModel(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* GetLimits(grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override;

 private:
  const RpcEnvironment environment_;
  const Metrics::Rpc get_model_;
  const Metrics::Rpc list_models_;
  const Metrics::Rpc reload_model_;
  const Metrics::Rpc get_limits_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_MODEL_SERVICE_H_
