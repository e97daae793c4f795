#include "client/lib/semrank_client.h"

#include <iterator>
#include <utility>

#include "client/lib/response_check.h"
#include "model/base/status_macros.h"

namespace semrank {

absl::StatusOr<std::unique_ptr<SemrankClient>> SemrankClient::Create(
    const ClientOptions& options) {
  SEMRANK_RETURN_IF_ERROR(CheckOptions(options));
  return std::unique_ptr<SemrankClient>(new SemrankClient(options));
}

SemrankClient::SemrankClient(const ClientOptions& options)
    : connection_(options),
      ranking_(v1::RankingService::NewStub(connection_.channel())),
      embedding_(v1::EmbeddingService::NewStub(connection_.channel())),
      model_(v1::ModelService::NewStub(connection_.channel())),
      health_(grpc::health::v1::Health::NewStub(connection_.channel())),
      limits_(&connection_) {}

absl::StatusOr<v1::RankResponse> SemrankClient::RankAtOnce(
    const v1::RankRequest& request, absl::Time deadline) {
  SEMRANK_ASSIGN_OR_RETURN(
      v1::RankResponse response,
      connection_.Call(*ranking_, &v1::RankingService::Stub::Rank, request,
                       deadline));
  SEMRANK_RETURN_IF_ERROR(CheckRankResponse(request, response));
  return response;
}

absl::StatusOr<v1::ExplainResponse> SemrankClient::Explain(
    const v1::ExplainRequest& request) {
  return connection_.Call(*ranking_, &v1::RankingService::Stub::Explain,
                          request, connection_.DeadlineFor());
}

absl::StatusOr<v1::EmbedTextsResponse> SemrankClient::EmbedAtOnce(
    const v1::EmbedTextsRequest& request, absl::Time deadline) {
  SEMRANK_ASSIGN_OR_RETURN(
      v1::EmbedTextsResponse response,
      connection_.Call(*embedding_, &v1::EmbeddingService::Stub::EmbedTexts,
                       request, deadline));
  SEMRANK_RETURN_IF_ERROR(CheckEmbedTextsResponse(request, response));
  return response;
}

absl::StatusOr<v1::Model> SemrankClient::GetModel(const v1::ModelRef& model) {
  return GetModelBy(model, connection_.DeadlineFor());
}

absl::StatusOr<v1::Model> SemrankClient::GetModelBy(const v1::ModelRef& model,
                                                    absl::Time deadline) {
  v1::GetModelRequest request;
  *request.mutable_model() = model;
  SEMRANK_ASSIGN_OR_RETURN(
      v1::GetModelResponse response,
      connection_.Call(*model_, &v1::ModelService::Stub::GetModel, request,
                       deadline));
  return std::move(*response.mutable_model());
}

absl::StatusOr<std::vector<v1::Model>> SemrankClient::ListModels(
    const std::string& name) {
  std::vector<v1::Model> models;
  v1::ListModelsRequest request;
  request.set_name(name);
  do {
    SEMRANK_ASSIGN_OR_RETURN(
        v1::ListModelsResponse page,
        connection_.Call(*model_, &v1::ModelService::Stub::ListModels, request,
                         connection_.DeadlineFor()));
    models.insert(models.end(),
                  std::make_move_iterator(page.mutable_models()->begin()),
                  std::make_move_iterator(page.mutable_models()->end()));
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return models;
}

absl::StatusOr<v1::ReloadModelResponse> SemrankClient::ReloadModel(
    const v1::ModelRef& model) {
  v1::ReloadModelRequest request;
  *request.mutable_model() = model;
  return connection_.Call(*model_, &v1::ModelService::Stub::ReloadModel,
                          request, connection_.DeadlineFor(), Repeat::kNever);
}

absl::StatusOr<v1::Limits> SemrankClient::GetLimits() {
  SEMRANK_ASSIGN_OR_RETURN(
      v1::GetLimitsResponse response,
      connection_.Call(*model_, &v1::ModelService::Stub::GetLimits,
                       v1::GetLimitsRequest(), connection_.DeadlineFor()));
  return std::move(*response.mutable_limits());
}

absl::StatusOr<grpc::health::v1::HealthCheckResponse::ServingStatus>
SemrankClient::CheckHealth(std::string_view service) {
  grpc::health::v1::HealthCheckRequest request;
  request.set_service(std::string(service));
  SEMRANK_ASSIGN_OR_RETURN(
      const grpc::health::v1::HealthCheckResponse response,
      connection_.Call(*health_, &grpc::health::v1::Health::Stub::Check,
                       request, connection_.DeadlineFor(), Repeat::kNever));
  return response.status();
}

}  // namespace semrank
