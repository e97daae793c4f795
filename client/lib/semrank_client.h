// A client of a semrank server.
//
//   Channel  one, opened by the first call and reconnected by gRPC; TLS if the
//            credentials name a certificate authority, else plain text.
//   Deadline of the options; covers connecting, waiting and all attempts of a
//            call together.
//   Retries  a call that the server rejects for now is repeated after the delay
//            that the server asks for, or after a backoff (retry.h). Repeated
//            calls only read, so this is safe; ReloadModel and CheckHealth are
//            not repeated.
//   Size     Rank and EmbedTexts accept any number of texts. A Rank over the
//            server's limits (GetLimits, called once) is sent in chunks, one
//            after another, and EmbedTexts of many texts over a stream, all to
//            one version of the model.
//   Errors   the server's code and message, prefixed by the address, with its
//            google.rpc details as payloads (client_status.h). Unavailable
//            without ErrorInfo: the server was not reached. Internal: the
//            response contradicts itself or the request.
//   Texts    must be UTF-8; the server rejects others.
//   Threads  all methods are thread-safe; a call blocks its thread.
#ifndef SEMRANK_CLIENT_LIB_SEMRANK_CLIENT_H_
#define SEMRANK_CLIENT_LIB_SEMRANK_CLIENT_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/lib/client_options.h"
#include "client/lib/connection.h"
#include "client/lib/request_chunks.h"
#include "client/lib/server_limits.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "semrank/v1/embedding_service.grpc.pb.h"
#include "semrank/v1/event_service.grpc.pb.h"
#include "semrank/v1/model_service.grpc.pb.h"
#include "semrank/v1/ranking_service.grpc.pb.h"

namespace semrank {

class SemrankClient {
 public:
  // InvalidArgument for bad options. Does not connect yet.
  static absl::StatusOr<std::unique_ptr<SemrankClient>> Create(
      const ClientOptions& options);

  // The response is checked: as many scores as indices, every index a candidate
  // of the request. Its timings are sums over the chunks. InvalidArgument for
  // a request with impression or interleave that exceeds a message.
  absl::StatusOr<v1::RankResponse> Rank(const v1::RankRequest& request);

  // Ranks many queries over one stream, which costs the server less per query
  // than Rank. Requests are sent without waiting for responses. `take` is
  // called in this thread, once per request and in any order, with the index of
  // the request and its checked response or the server's error for it. An error
  // of `take` ends the call.
  //
  //   Retries  after a broken stream, a new one carries the requests without a
  //            response and those that the server rejected for now. Attempts
  //            are counted anew whenever one brought a response. After the last
  //            one the call fails with the stream's error, or each rejected
  //            request gets its rejection.
  //   Model    chosen per request; requests without a version may be answered
  //            by different versions across a reload.
  //   Size     requests are not split: one with too many texts gets an error,
  //            one with too many bytes ends the call.
  //   Deadline that of the options for each thousand requests.
  using TakeRanking = std::function<absl::Status(
      std::size_t index, absl::StatusOr<v1::RankResponse> response)>;
  absl::Status RankStream(std::span<const v1::RankRequest> requests,
                          const TakeRanking& take);

  absl::StatusOr<v1::ExplainResponse> Explain(
      const v1::ExplainRequest& request);

  // Returns once the events and lists are kept. Events without an event_id and
  // lists without an impression_id get one, so that a call that failed for now
  // can be repeated: training counts once what is kept twice. Reports are not
  // split; one that is Unavailable may be kept in part.
  absl::StatusOr<v1::ReportEventsResponse> ReportEvents(
      const v1::ReportEventsRequest& request);

  // The response is checked: one vector per text, in the requested encoding.
  absl::StatusOr<v1::EmbedTextsResponse> EmbedTexts(
      const v1::EmbedTextsRequest& request);

  // Embeds any number of texts over one stream, in messages of at most 1,000
  // texts and 1 MiB. `take` is called in this thread with the checked responses
  // in order: one vector per text, zeros for the texts in `problems`. It may
  // move the vectors out of a response. An error of `take` ends the call. After
  // a broken stream, a new one continues with the first text without a
  // response, on the same version of the model. The deadline is that of the
  // options for each thousand texts.
  using TakeEmbeddings =
      std::function<absl::Status(v1::EmbedTextsStreamResponse&)>;
  absl::Status EmbedTextsStream(const v1::EmbedTextsRequest& request,
                                const TakeEmbeddings& take);

  absl::StatusOr<v1::Model> GetModel(const v1::ModelRef& model);

  // All versions that the server knows, with their states and failures; of all
  // models if `name` is empty.
  absl::StatusOr<std::vector<v1::Model>> ListModels(const std::string& name);

  // Returns once the version is served or was rejected, which takes as long as
  // loading the model. The server needs --enable_admin_rpcs and, if it uses API
  // keys, a key with the admin role.
  absl::StatusOr<v1::ReloadModelResponse> ReloadModel(
      const v1::ModelRef& model);

  absl::StatusOr<v1::Limits> GetLimits();

  // `service`: "semrank.v1.RankingService" and the like, or "" for the whole
  // server. NotFound if the server has no such service.
  absl::StatusOr<grpc::health::v1::HealthCheckResponse::ServingStatus>
  CheckHealth(std::string_view service);

 private:
  explicit SemrankClient(const ClientOptions& options);

  absl::StatusOr<v1::RankResponse> RankInOneMessage(
      const v1::RankRequest& request, absl::Time deadline);
  absl::StatusOr<v1::RankResponse> RankInChunks(const v1::RankRequest& request,
                                                const MessageLimits& limits,
                                                absl::Time deadline);
  // As EmbedTextsStream, by this deadline and the version `answering`, which
  // becomes the one that answered.
  absl::Status StreamTexts(const v1::EmbedTextsRequest& request,
                           absl::Time deadline, v1::ModelRef& answering,
                           const TakeEmbeddings& take);

  absl::StatusOr<v1::Model> GetModelBy(const v1::ModelRef& model,
                                       absl::Time deadline);

  Connection connection_;
  const std::unique_ptr<v1::RankingService::Stub> ranking_;
  const std::unique_ptr<v1::EmbeddingService::Stub> embedding_;
  const std::unique_ptr<v1::ModelService::Stub> model_;
  const std::unique_ptr<v1::EventService::Stub> event_;
  const std::unique_ptr<grpc::health::v1::Health::Stub> health_;
  ServerLimits limits_;
};

// Vector `row`, with embedding_dim elements, of a response of EmbedTexts in
// VECTOR_ENCODING_FLOAT32.
std::vector<float> FloatVector(const v1::EmbedTextsResponse& response,
                               std::size_t row);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_LIB_SEMRANK_CLIENT_H_
