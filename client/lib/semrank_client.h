// Calls a semrank server.
//
//   Channel  one, opened on the first call, reused and reopened by gRPC; TLS
//            if the credentials say who signs the server, else plain text.
//   Time     each call has the deadline of the options: connecting, waiting
//            and all its attempts together.
//   Retries  a call that the server turns away is made again when the server
//            says, or after a backoff (retry.h). Those calls only read, so
//            that is safe; ReloadModel and CheckHealth ask once.
//   Size     Rank and EmbedTexts take any number of texts: what is over the
//            server's limits on texts or bytes of a message (GetLimits, asked
//            once) goes in pieces, one after another, all to one version of
//            the model.
//   Errors   the server's code, with its message after the address and its
//            google.rpc details as payloads (client_status.h). Unavailable
//            without ErrorInfo: the server was not reached. Internal: the
//            answer contradicts itself or the request.
//   Texts    must be UTF-8; the server refuses others.
//   Threads  every method, from any thread; a call blocks its thread.
#ifndef SEMRANK_CLIENT_LIB_SEMRANK_CLIENT_H_
#define SEMRANK_CLIENT_LIB_SEMRANK_CLIENT_H_

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
#include "client/lib/request_pieces.h"
#include "client/lib/server_limits.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "semrank/v1/embedding_service.grpc.pb.h"
#include "semrank/v1/model_service.grpc.pb.h"
#include "semrank/v1/ranking_service.grpc.pb.h"

namespace semrank {

class SemrankClient {
 public:
  // InvalidArgument for bad options. Does not connect yet.
  static absl::StatusOr<std::unique_ptr<SemrankClient>> Create(
      const ClientOptions& options);

  // The response is checked: indices and scores are parallel, and every index
  // is one of the request's candidates. Its timings are sums over the pieces.
  absl::StatusOr<v1::RankResponse> Rank(const v1::RankRequest& request);

  // Ranks many queries over one stream, which takes the server less work a
  // query than Rank. Requests are sent without waiting for answers; `take` gets
  // each answer as it comes, in any order, in this thread and once, with the
  // number of its request: the response, checked as by Rank, or why the server
  // refuses this one. An error of it ends the call.
  //
  //   Retries  a stream that breaks off is followed by another for the requests
  //            without an answer, and so are requests that the server turns
  //            away for the time being. What was taken stays taken. Attempts
  //            count anew once one brought an answer; after the last one the
  //            call ends with the stream's error, or the requests that were
  //            turned away get theirs.
  //   Model    each request says which; those that do not may be answered by
  //            another version after a reload.
  //   Size     a request goes whole: with more texts than the server takes it
  //            is refused, with more bytes it ends the call.
  //   Time     the deadline counts once for each thousand requests.
  using TakeRanking = std::function<absl::Status(
      std::size_t number, absl::StatusOr<v1::RankResponse> response)>;
  absl::Status RankStream(std::span<const v1::RankRequest> requests,
                          const TakeRanking& take);

  absl::StatusOr<v1::ExplainResponse> Explain(
      const v1::ExplainRequest& request);

  // The response is checked: one vector a text, of the encoding asked for.
  absl::StatusOr<v1::EmbedTextsResponse> EmbedTexts(
      const v1::EmbedTextsRequest& request);

  // Embeds any number of texts over one stream, a thousand or a mebibyte in a
  // message. `take` gets the answers in order, in this thread, each checked:
  // one vector a text, zeros for the texts in `problems`; an error of it ends
  // the call. What was taken before an error stays taken. A stream that breaks
  // off is taken up again at the first text without an answer, with the same
  // version of the model. The deadline counts once for each thousand texts.
  absl::Status EmbedTextsStream(
      const v1::EmbedTextsRequest& request,
      const std::function<absl::Status(const v1::EmbedTextsStreamResponse&)>&
          take);

  absl::StatusOr<v1::Model> GetModel(const v1::ModelRef& model);

  // All versions that the server knows, with their states and why they failed;
  // `name` empty = of all models.
  absl::StatusOr<std::vector<v1::Model>> ListModels(const std::string& name);

  // Returns once the version is served or has been refused: give it time. Needs
  // a server with --enable_admin_rpcs and, where keys are in use, the admin
  // role. Asks once.
  absl::StatusOr<v1::ReloadModelResponse> ReloadModel(
      const v1::ModelRef& model);

  absl::StatusOr<v1::Limits> GetLimits();

  // `service` = "" or a full name such as "semrank.v1.RankingService"; one that
  // the server does not know is NotFound.
  absl::StatusOr<grpc::health::v1::HealthCheckResponse::ServingStatus>
  CheckHealth(std::string_view service);

 private:
  explicit SemrankClient(const ClientOptions& options);

  // Requests of one message.
  absl::StatusOr<v1::RankResponse> RankAtOnce(const v1::RankRequest& request,
                                              absl::Time deadline);
  absl::StatusOr<v1::EmbedTextsResponse> EmbedAtOnce(
      const v1::EmbedTextsRequest& request, absl::Time deadline);
  // Requests of any size, cut to these limits.
  absl::StatusOr<v1::RankResponse> RankInPieces(const v1::RankRequest& request,
                                                const PieceLimits& limits,
                                                absl::Time deadline);
  absl::StatusOr<v1::EmbedTextsResponse> EmbedInPieces(
      const v1::EmbedTextsRequest& request, const PieceLimits& limits,
      absl::Time deadline);

  // At once if that is likely to do, else, or when it did not, in pieces.
  template <typename AtOnce, typename InPieces>
  auto WithinLimits(const PieceLimits& size, absl::Time deadline,
                    AtOnce at_once, InPieces in_pieces) -> decltype(at_once());

  absl::StatusOr<v1::Model> GetModelBy(const v1::ModelRef& model,
                                       absl::Time deadline);

  Connection connection_;
  const std::unique_ptr<v1::RankingService::Stub> ranking_;
  const std::unique_ptr<v1::EmbeddingService::Stub> embedding_;
  const std::unique_ptr<v1::ModelService::Stub> model_;
  const std::unique_ptr<grpc::health::v1::Health::Stub> health_;
  ServerLimits limits_;
};

}  // namespace semrank

#endif  // SEMRANK_CLIENT_LIB_SEMRANK_CLIENT_H_
