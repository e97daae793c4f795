#include "server/rpc/model_service.h"

#include <vector>

#include "model/base/status_macros.h"
#include "server/base/errors.h"
#include "server/requests/model_fields.h"
#include "server/rpc/message_call.h"

namespace semrank {
namespace {

constexpr char kModelService[] = "semrank.v1.ModelService";

absl::Status CheckAdminRpcs(bool admin_rpcs) {
  if (admin_rpcs) return absl::OkStatus();
  return MakeError(absl::StatusCode::kFailedPrecondition, "ADMIN_DISABLED",
                   "the server runs without --enable_admin_rpcs",
                   {{"flag", "enable_admin_rpcs"}});
}

}  // namespace

ModelService::ModelService(const RpcEnvironment& environment)
    : environment_(environment),
      get_model_(
          environment.metrics->AddRpc(kModelService, "GetModel", "unary")),
      list_models_(
          environment.metrics->AddRpc(kModelService, "ListModels", "unary")),
      reload_model_(
          environment.metrics->AddRpc(kModelService, "ReloadModel", "unary")),
      get_limits_(
          environment.metrics->AddRpc(kModelService, "GetLimits", "unary")) {}

grpc::ServerUnaryReactor* ModelService::GetModel(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* response) {
  return MessageCall<v1::GetModelRequest, v1::GetModelResponse>::Start(
      environment_, get_model_, {context, request, response},
      [this](const v1::GetModelRequest& get, v1::GetModelResponse& got) {
        SEMRANK_ASSIGN_OR_RETURN(
            const ModelStatus status,
            environment_.models->Describe(get.model().name(),
                                          get.model().version()));
        DescribeModel(status, *got.mutable_model());
        return absl::OkStatus();
      },
      environment_.workers);
}

grpc::ServerUnaryReactor* ModelService::ListModels(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* response) {
  return MessageCall<v1::ListModelsRequest, v1::ListModelsResponse>::Start(
      environment_, list_models_, {context, request, response},
      [this](const v1::ListModelsRequest& list, v1::ListModelsResponse& page) {
        SEMRANK_ASSIGN_OR_RETURN(const std::vector<ModelStatus> models,
                                 environment_.models->List(list.name()));
        return FillPage(models, list, page);
      },
      environment_.workers);
}

grpc::ServerUnaryReactor* ModelService::ReloadModel(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* response) {
  return MessageCall<v1::ReloadModelRequest, v1::ReloadModelResponse>::Start(
      environment_, reload_model_, {context, request, response, Role::kAdmin},
      [this](const v1::ReloadModelRequest& reload,
             v1::ReloadModelResponse& result) {
        SEMRANK_RETURN_IF_ERROR(CheckAdminRpcs(environment_.admin_rpcs));
        SEMRANK_ASSIGN_OR_RETURN(
            const ModelStore::Reloaded reloaded,
            environment_.models->Reload(reload.model().name(),
                                        reload.model().version()));
        DescribeModel(reloaded.model, *result.mutable_model());
        if (reloaded.previous_version != 0) {
          v1::ModelRef& previous = *result.mutable_previous();
          previous.set_name(reloaded.model.name);
          previous.set_version(reloaded.previous_version);
        }
        result.set_changed(reloaded.changed);
        return absl::OkStatus();
      },
      environment_.loader);
}

grpc::ServerUnaryReactor* ModelService::GetLimits(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* response) {
  return MessageCall<v1::GetLimitsRequest, v1::GetLimitsResponse>::Start(
      environment_, get_limits_, {context, request, response},
      [this](const v1::GetLimitsRequest& /*get*/, v1::GetLimitsResponse& got) {
        DescribeLimits(environment_.ranking->limits(),
                       environment_.catalog_writer->catalog().max_documents(),
                       *got.mutable_limits());
        return absl::OkStatus();
      });
}

}  // namespace semrank
