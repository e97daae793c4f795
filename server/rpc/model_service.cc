#include "server/rpc/model_service.h"

#include <chrono>

#include "model/base/status_macros.h"
#include "server/core/limits.h"
#include "server/rpc/message_call.h"

namespace semrank {
namespace {

constexpr char kService[] = "semrank.v1.ModelService";

void SetTimestamp(absl::Time time, google::protobuf::Timestamp& timestamp) {
  const std::int64_t seconds = absl::ToUnixSeconds(time);
  timestamp.set_seconds(seconds);
  timestamp.set_nanos(static_cast<std::int32_t>(
      absl::ToInt64Nanoseconds(time - absl::FromUnixSeconds(seconds))));
}

void DescribeModel(const ServedModel& served, v1::Model& model) {
  const ModelVersion& version = served.model->version();
  model.set_name(version.name);
  model.set_version(version.version);
  model.set_state(v1::MODEL_STATE_SERVING);
  *model.mutable_config() = served.model->config();
  model.set_weights_sha256(version.weights_sha256);
  SetTimestamp(served.load_time, *model.mutable_load_time());
  model.set_embedding_dim(served.model->embedding_dim());
  model.set_current(true);
  model.set_pinned(served.pinned);
  model.set_is_default(true);
  model.set_score_kind(served.model->config().score_kind());
}

void DescribeLimits(const Limits& limits, int embedding_dim,
                    v1::Limits& message) {
  message.set_max_texts_per_request(limits.max_texts_per_request);
  message.set_max_text_bytes(limits.max_text_bytes);
  message.set_max_inflight_texts(limits.max_inflight_texts);
  message.set_max_request_bytes(MaxRequestBytes(limits, embedding_dim));
  message.set_max_response_bytes(MaxResponseBytes(limits, embedding_dim));
  message.set_max_metadata_bytes(limits.max_metadata_bytes);
  message.set_max_streams_per_connection(limits.max_streams_per_connection);
  message.set_max_requests_per_stream(limits.max_requests_per_stream);
}

}  // namespace

ModelService::ModelService(const RpcEnvironment& environment)
    : environment_(environment),
      get_model_(environment.metrics->AddRpc(kService, "GetModel", "unary")),
      list_models_(
          environment.metrics->AddRpc(kService, "ListModels", "unary")),
      reload_model_(
          environment.metrics->AddRpc(kService, "ReloadModel", "unary")),
      get_limits_(environment.metrics->AddRpc(kService, "GetLimits", "unary")) {
}

grpc::ServerUnaryReactor* ModelService::GetModel(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* response) {
  return MessageCall<v1::GetModelRequest, v1::GetModelResponse>::Start(
      environment_, get_model_, {context, request, response},
      [this](const v1::GetModelRequest& get, v1::GetModelResponse& got) {
        SEMRANK_ASSIGN_OR_RETURN(
            const ServedModelPtr served,
            environment_.models->Find(get.model().name(),
                                      get.model().version()));
        DescribeModel(*served, *got.mutable_model());
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* ModelService::ListModels(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* /*request*/,
    grpc::ByteBuffer* /*response*/) {
  return AnswerUnimplemented("ModelService.ListModels", list_models_, context);
}

grpc::ServerUnaryReactor* ModelService::ReloadModel(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* /*request*/,
    grpc::ByteBuffer* /*response*/) {
  return AnswerUnimplemented("ModelService.ReloadModel", reload_model_,
                             context);
}

grpc::ServerUnaryReactor* ModelService::GetLimits(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* response) {
  return MessageCall<v1::GetLimitsRequest, v1::GetLimitsResponse>::Start(
      environment_, get_limits_, {context, request, response},
      [this](const v1::GetLimitsRequest& /*get*/, v1::GetLimitsResponse& got) {
        SEMRANK_ASSIGN_OR_RETURN(const ServedModelPtr served,
                                 environment_.models->Find("", 0));
        DescribeLimits(environment_.engine->limits(),
                       served->model->embedding_dim(), *got.mutable_limits());
        return absl::OkStatus();
      });
}

}  // namespace semrank
