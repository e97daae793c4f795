#include "client/lib/semrank_client.h"

#include <google/protobuf/message_lite.h>

#include <bit>
#include <cassert>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "client/lib/client_status.h"
#include "client/lib/response_check.h"
#include "model/base/random_id.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

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
      event_(v1::EventService::NewStub(connection_.channel())),
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

absl::StatusOr<v1::ReportEventsResponse> SemrankClient::ReportEvents(
    const v1::ReportEventsRequest& request) {
  // A retry after a lost response sends the same ids, by which the server
  // counts each event once.
  v1::ReportEventsRequest named = request;
  for (v1::Event& event : *named.mutable_events()) {
    if (event.event_id().empty()) event.set_event_id(MakeRandomId());
  }
  for (v1::ShownList& list : *named.mutable_impressions()) {
    if (list.impression_id().empty()) list.set_impression_id(MakeRandomId());
  }
  return connection_.Call(*event_, &v1::EventService::Stub::ReportEvents, named,
                          connection_.DeadlineFor());
}

// Uses its own deadline. RankInChunks passes its deadline to GetModelBy.
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

// Not retried: the second attempt would load the model once more.
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

// Not retried: a probe asks for the state right now.
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

absl::StatusOr<v1::RankResponse> SemrankClient::Rank(
    const v1::RankRequest& request) {
  const absl::Time deadline = connection_.DeadlineFor();
  // The dimension of vectors is not known yet; their bytes count anyway.
  const MessageLimits size = SizeOf(NumCandidates(request, 0), request);
  MessageLimits limits = limits_.known().value_or(kAssumedLimits);
  absl::StatusOr<v1::RankResponse> response;
  if (limits.Contains(size)) {
    response = RankInOneMessage(request, deadline);
  } else {
    SEMRANK_ASSIGN_OR_RETURN(limits, limits_.Get(deadline));
    response = RankInChunks(request, limits, deadline);
  }
  // Vectors were not counted, so their message may exceed any limit.
  if (!request.vectors().empty()) limits = ToMessageLimits({});
  if (!limits_.Renew(response.status(), deadline, limits)) return response;
  return RankInChunks(request, limits, deadline);
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
  const std::int64_t num_candidates = NumCandidates(request, embedding_dim);
  v1::RankRequest common = WithoutCandidates(request);
  v1::RankResponse whole;
  bool is_split = false;
  // One chunk after another, since later ones name the version that answered
  // the first.
  const auto send = [&](v1::ModelRef& answering) -> absl::Status {
    whole.Clear();
    std::int64_t begin = 0;
    do {
      *common.mutable_model() = answering;
      const v1::RankRequest chunk =
          MakeChunk(begin, num_candidates, limits,
                    [&](std::int64_t first, std::int64_t end) {
                      v1::RankRequest made = common;
                      AddCandidates(request, embedding_dim, first, end, made);
                      return made;
                    });
      const bool is_whole =
          NumCandidates(chunk, embedding_dim) == num_candidates;
      is_split |= !is_whole;
      if (!is_whole && (request.has_impression() || request.has_interleave())) {
        return absl::InvalidArgumentError(
            "a request with impression or interleave is one list, and this one "
            "exceeds a message: send fewer candidates");
      }
      absl::StatusOr<v1::RankResponse> response =
          RankInOneMessage(chunk, deadline);
      if (!response.ok()) return InChunkFrom(begin, response.status());
      answering = response->model();
      AddRankChunk(begin, *std::move(response), whole);
      begin += NumCandidates(chunk, embedding_dim);
    } while (begin < num_candidates);
    return absl::OkStatus();
  };
  SEMRANK_RETURN_IF_ERROR(SendToOneVersion(
      request.model(), connection_.options().retry.max_attempts, send));
  // The order of one answer need not be that of its scores: exploration and
  // interleaving change it.
  if (is_split) FinishRank(request.top_k(), whole);
  return whole;
}

// A few texts are one message. More go over a stream, which splits them and
// keeps to one version of the model.
absl::StatusOr<v1::EmbedTextsResponse> SemrankClient::EmbedTexts(
    const v1::EmbedTextsRequest& request) {
  const absl::Time deadline = connection_.DeadlineFor();
  if (StreamLimits(limits_.known().value_or(kAssumedLimits))
          .Contains(SizeOf(request.texts_size(), request))) {
    absl::StatusOr<v1::EmbedTextsResponse> response =
        connection_.Call(*embedding_, &v1::EmbeddingService::Stub::EmbedTexts,
                         request, deadline);
    if (response.ok()) {
      SEMRANK_RETURN_IF_ERROR(CheckEmbedTextsResponse(request, *response));
    }
    if (!MayBeTooLarge(response.status())) return response;
  }
  v1::EmbedTextsResponse whole;
  const auto add = [&](const v1::EmbedTextsStreamResponse& chunk) {
    if (chunk.problems_size() > 0) {
      // This call embeds all texts or none.
      const google::rpc::Status& first = chunk.problems(0).status();
      // A problem is an error, also if its code says OK.
      const auto code = first.code() == 0
                            ? grpc::StatusCode::UNKNOWN
                            : static_cast<grpc::StatusCode>(first.code());
      const grpc::Status failed(code, first.message(),
                                first.SerializeAsString());
      return InChunkFrom(static_cast<std::int64_t>(chunk.first_text()),
                         connection_.Describe(failed, /*num_attempts=*/1));
    }
    whole.mutable_vectors()->append(chunk.vectors());
    whole.mutable_scales()->MergeFrom(chunk.scales());
    whole.set_embedding_dim(chunk.embedding_dim());
    whole.set_encoding(chunk.encoding());
    if (chunk.has_model()) *whole.mutable_model() = chunk.model();
    AddTimings(chunk.timings(), *whole.mutable_timings());
    whole.set_cache_hits(whole.cache_hits() + chunk.cache_hits());
    whole.set_cache_misses(whole.cache_misses() + chunk.cache_misses());
    return absl::OkStatus();
  };
  SEMRANK_RETURN_IF_ERROR(SendToOneVersion(
      request.model(), connection_.options().retry.max_attempts,
      [&](v1::ModelRef& answering) {
        whole.Clear();
        return StreamTexts(request, deadline, answering, add);
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
