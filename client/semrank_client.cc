#include "client/semrank_client.h"

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <climits>
#include <cstddef>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/client_status.h"
#include "client/response_check.h"
#include "client/server_address.h"
#include "model/base/status_macros.h"
#include "model/base/version.h"

namespace semrank {
namespace {

// Vectors of 100,000 texts are 51 MB; gRPC's own limit of 4 MB would refuse
// the answer to a request that the server takes.
constexpr int kMaxResponseBytes = 512 << 20;

std::shared_ptr<grpc::Channel> OpenChannel(const ClientOptions& options) {
  const std::string& address = options.address;
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxResponseBytes);
  arguments.SetUserAgentPrefix(absl::StrFormat("semrank-client/%s", Version()));
  // gRPC obeys http_proxy for every address; no proxy reaches our loopback.
  if (IsLoopback(address)) arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(
      address, ToChannelCredentials(options.credentials), arguments);
}

}  // namespace

absl::StatusOr<std::unique_ptr<SemrankClient>> SemrankClient::Create(
    const ClientOptions& options) {
  const absl::Status address = CheckServerAddress(options.address);
  if (!address.ok()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "server address '%s': %s", options.address, address.message()));
  }
  if (options.deadline <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("deadline %s: must be positive",
                        absl::FormatDuration(options.deadline)));
  }
  SEMRANK_RETURN_IF_ERROR(CheckCredentials(options.credentials));
  return std::unique_ptr<SemrankClient>(new SemrankClient(options));
}

SemrankClient::SemrankClient(const ClientOptions& options)
    : options_(options),
      channel_(OpenChannel(options)),
      ranking_(v1::RankingService::NewStub(channel_)),
      embedding_(v1::EmbeddingService::NewStub(channel_)),
      model_(v1::ModelService::NewStub(channel_)),
      health_(grpc::health::v1::Health::NewStub(channel_)) {}

template <typename Stub, typename Request, typename Response>
absl::StatusOr<Response> SemrankClient::Call(
    Stub& stub,
    grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                 Response*),
    const Request& request) {
  // Protobuf counts in int: a larger message would end the process.
  const std::size_t num_bytes = request.ByteSizeLong();
  if (num_bytes > INT_MAX) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "the request has %d bytes, a message can have %d at the most",
        num_bytes, INT_MAX));
  }
  grpc::ClientContext context;
  PrepareContext(1, context);
  Response response;
  const grpc::Status status = (stub.*method)(&context, request, &response);
  if (!status.ok()) return DescribeFailure(status);
  return response;
}

void SemrankClient::PrepareContext(int num_messages,
                                   grpc::ClientContext& context) const {
  if (options_.deadline < absl::InfiniteDuration()) {
    context.set_deadline(
        absl::ToChronoTime(absl::Now() + num_messages * options_.deadline));
  }
  if (!options_.credentials.api_key.empty()) {
    context.AddMetadata("authorization",
                        "Bearer " + options_.credentials.api_key);
  }
}

absl::Status SemrankClient::DescribeFailure(const grpc::Status& status) {
  absl::Status result = FromGrpcStatus(status, options_.address);
  if (GetErrorInfo(result).has_value()) return result;
  if (absl::IsUnavailable(result)) {
    return absl::UnavailableError(absl::StrFormat(
        "cannot reach %s: %s", options_.address, status.error_message()));
  }
  if (absl::IsDeadlineExceeded(result)) {
    const bool connected =
        channel_->GetState(/*try_to_connect=*/false) == GRPC_CHANNEL_READY;
    return absl::DeadlineExceededError(
        absl::StrFormat("%s: %s within %s", options_.address,
                        connected ? "no answer" : "no connection",
                        absl::FormatDuration(options_.deadline)));
  }
  return result;
}

absl::StatusOr<v1::RankResponse> SemrankClient::Rank(
    const v1::RankRequest& request) {
  SEMRANK_ASSIGN_OR_RETURN(
      v1::RankResponse response,
      Call(*ranking_, &v1::RankingService::Stub::Rank, request));
  SEMRANK_RETURN_IF_ERROR(CheckRankResponse(request, response));
  return response;
}

absl::StatusOr<v1::ExplainResponse> SemrankClient::Explain(
    const v1::ExplainRequest& request) {
  return Call(*ranking_, &v1::RankingService::Stub::Explain, request);
}

absl::StatusOr<v1::EmbedTextsResponse> SemrankClient::EmbedTexts(
    const v1::EmbedTextsRequest& request) {
  SEMRANK_ASSIGN_OR_RETURN(
      v1::EmbedTextsResponse response,
      Call(*embedding_, &v1::EmbeddingService::Stub::EmbedTexts, request));
  SEMRANK_RETURN_IF_ERROR(CheckEmbedTextsResponse(request, response));
  return response;
}

absl::StatusOr<v1::Model> SemrankClient::GetModel(const v1::ModelRef& model) {
  v1::GetModelRequest request;
  *request.mutable_model() = model;
  SEMRANK_ASSIGN_OR_RETURN(
      v1::GetModelResponse response,
      Call(*model_, &v1::ModelService::Stub::GetModel, request));
  return std::move(*response.mutable_model());
}

absl::StatusOr<v1::Limits> SemrankClient::GetLimits() {
  SEMRANK_ASSIGN_OR_RETURN(v1::GetLimitsResponse response,
                           Call(*model_, &v1::ModelService::Stub::GetLimits,
                                v1::GetLimitsRequest()));
  return std::move(*response.mutable_limits());
}

absl::StatusOr<grpc::health::v1::HealthCheckResponse::ServingStatus>
SemrankClient::CheckHealth(std::string_view service) {
  grpc::health::v1::HealthCheckRequest request;
  request.set_service(std::string(service));
  SEMRANK_ASSIGN_OR_RETURN(
      const grpc::health::v1::HealthCheckResponse response,
      Call(*health_, &grpc::health::v1::Health::Stub::Check, request));
  return response.status();
}

}  // namespace semrank
