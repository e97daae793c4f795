#include "client/lib/semrank_client.h"

#include <google/protobuf/message_lite.h>

#include <bit>
#include <cassert>
#include <cstdint>
#include <iterator>
#include <utility>

#include "absl/strings/str_format.h"
#include "client/lib/client_status.h"
#include "client/lib/response_check.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

// Limits that are assumed until a request exceeds them, so that a client of
// small requests never calls GetLimits.
constexpr MessageLimits kAssumedLimits = {.max_texts = 1'000,
                                          .max_bytes = std::int64_t{1} << 20};

bool IsWithin(const MessageLimits& size, const MessageLimits& limits) {
  return size.max_texts <= limits.max_texts &&
         size.max_bytes <= limits.max_bytes;
}

MessageLimits SizeOf(std::int64_t num_texts,
                     const google::protobuf::MessageLite& message) {
  return {.max_texts = num_texts,
          .max_bytes = static_cast<std::int64_t>(message.ByteSizeLong())};
}

// Lets the caller find "titles[17]" of a chunk in its own request.
absl::Status InChunkFrom(std::int64_t begin, const absl::Status& status) {
  if (begin == 0) return status;
  return WithNote(status, absl::StrFormat("counted from number %d", begin));
}

}  // namespace

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

absl::StatusOr<v1::RankResponse> SemrankClient::RankInOneMessage(
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

absl::StatusOr<v1::EmbedTextsResponse> SemrankClient::EmbedInOneMessage(
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
    // An empty token, which also the first request has, marks the last page.
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return models;
}

absl::StatusOr<v1::ReloadModelResponse> SemrankClient::ReloadModel(
    const v1::ModelRef& model) {
  v1::ReloadModelRequest request;
  *request.mutable_model() = model;
  return connection_.Call(*model_, &v1::ModelService::Stub::ReloadModel,
                          request, connection_.DeadlineFor(), Retries::kOff);
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
                       request, connection_.DeadlineFor(), Retries::kOff));
  return response.status();
}

// The usual request is small and costs no GetLimits. A larger one is split by
// the limits of the server; if these were lowered since, it is split once more.
template <typename InOneMessage, typename InChunks>
auto SemrankClient::WithinLimits(const MessageLimits& size, absl::Time deadline,
                                 InOneMessage in_one_message,
                                 InChunks in_chunks)
    -> decltype(in_one_message()) {
  if (IsWithin(size, limits_.known().value_or(kAssumedLimits))) {
    auto response = in_one_message();
    if (!MayBeTooLarge(response.status())) return response;
    const absl::StatusOr<MessageLimits> limits = limits_.Fetch(deadline);
    if (!limits.ok()) return response;
    // If the request is within the limits, the rejection has another cause.
    const bool too_large = HasReason(response.status(), "TOO_MANY_TEXTS") ||
                           !IsWithin(size, *limits);
    return too_large ? in_chunks(*limits) : response;
  }
  SEMRANK_ASSIGN_OR_RETURN(MessageLimits limits, limits_.Get(deadline));
  auto response = in_chunks(limits);
  if (!limits_.Renew(response.status(), deadline, limits)) return response;
  return in_chunks(limits);
}

absl::StatusOr<v1::RankResponse> SemrankClient::Rank(
    const v1::RankRequest& request) {
  const absl::Time deadline = connection_.DeadlineFor();
  // The dimension of vectors is not known yet; their bytes count anyway.
  return WithinLimits(
      SizeOf(NumCandidates(request, 0), request), deadline,
      [&] { return RankInOneMessage(request, deadline); },
      [&](const MessageLimits& limits) {
        return RankInChunks(request, limits, deadline);
      });
}

absl::StatusOr<v1::RankResponse> SemrankClient::RankInChunks(
    const v1::RankRequest& request, const MessageLimits& limits,
    absl::Time deadline) {
  std::uint32_t embedding_dim = 0;
  if (!request.vectors().empty()) {
    SEMRANK_ASSIGN_OR_RETURN(const v1::Model model,
                             GetModelBy(request.model(), deadline));
    embedding_dim = model.embedding_dim();
    // The server rejects vectors of another dimension with the better message.
    if (embedding_dim == 0 ||
        request.vectors().size() % (sizeof(float) * embedding_dim) != 0) {
      return RankInOneMessage(request, deadline);
    }
  }
  v1::RankResponse whole;
  SEMRANK_RETURN_IF_ERROR(SendChunks(
      NumCandidates(request, embedding_dim), request.model(),
      connection_.options().retry.max_attempts, [&] { whole.Clear(); },
      // One after another, since later chunks name the version that answered
      // the first.
      [&](std::int64_t begin,
          const v1::ModelRef& model) -> absl::StatusOr<ChunkResult> {
        const v1::RankRequest chunk =
            RankChunk(request, embedding_dim, begin, model, limits);
        const auto response = RankInOneMessage(chunk, deadline);
        if (!response.ok()) return InChunkFrom(begin, response.status());
        AddRankChunk(begin, *response, whole);
        return ChunkResult{NumCandidates(chunk, embedding_dim),
                           response->model()};
      }));
  FinishRank(request.top_k(), whole);
  return whole;
}

absl::StatusOr<v1::EmbedTextsResponse> SemrankClient::EmbedTexts(
    const v1::EmbedTextsRequest& request) {
  const absl::Time deadline = connection_.DeadlineFor();
  return WithinLimits(
      SizeOf(request.texts_size(), request), deadline,
      [&] { return EmbedInOneMessage(request, deadline); },
      [&](const MessageLimits& limits) {
        return EmbedInChunks(request, limits, deadline);
      });
}

absl::StatusOr<v1::EmbedTextsResponse> SemrankClient::EmbedInChunks(
    const v1::EmbedTextsRequest& request, const MessageLimits& limits,
    absl::Time deadline) {
  v1::EmbedTextsResponse whole;
  SEMRANK_RETURN_IF_ERROR(SendChunks(
      request.texts_size(), request.model(),
      connection_.options().retry.max_attempts, [&] { whole.Clear(); },
      [&](std::int64_t begin,
          const v1::ModelRef& model) -> absl::StatusOr<ChunkResult> {
        const v1::EmbedTextsRequest chunk =
            EmbedChunk(request, static_cast<int>(begin), model, limits);
        const auto response = EmbedInOneMessage(chunk, deadline);
        if (!response.ok()) return InChunkFrom(begin, response.status());
        AddEmbedChunk(*response, whole);
        return ChunkResult{chunk.texts_size(), response->model()};
      }));
  return whole;
}

std::vector<float> FloatVector(const v1::EmbedTextsResponse& response,
                               std::size_t row) {
  // Copied byte by byte, since a string has no alignment for floats.
  const std::size_t dim = response.embedding_dim();
  assert((row + 1) * dim * sizeof(float) <= response.vectors().size());
  const auto* bytes = reinterpret_cast<const unsigned char*>(
      response.vectors().data() + row * dim * sizeof(float));
  std::vector<float> vector(dim);
  for (float& element : vector) {
    // Little-endian on the wire, on any machine.
    const std::uint32_t bits = bytes[0] | bytes[1] << 8 | bytes[2] << 16 |
                               static_cast<std::uint32_t>(bytes[3]) << 24;
    element = std::bit_cast<float>(bits);
    bytes += sizeof(float);
  }
  return vector;
}

}  // namespace semrank
