// Calls a semrank server.
//
//   Channel  one, opened on the first call, reused and reopened by gRPC; TLS
//            if the credentials say who signs the server, else plain text.
//   Time     each call has the deadline of the options, connecting included.
//   Errors   the server's code, with its message after the address and its
//            google.rpc details as payloads (client_status.h). Unavailable
//            without ErrorInfo: the server was not reached. Internal: the
//            answer contradicts itself or the request.
//   Texts    must be UTF-8; the server refuses others.
//   Threads  every method, from any thread; a call blocks its thread.
#ifndef SEMRANK_CLIENT_SEMRANK_CLIENT_H_
#define SEMRANK_CLIENT_SEMRANK_CLIENT_H_

#include <grpcpp/channel.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/client_credentials.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "semrank/v1/embedding_service.grpc.pb.h"
#include "semrank/v1/model_service.grpc.pb.h"
#include "semrank/v1/ranking_service.grpc.pb.h"

namespace semrank {

struct ClientOptions {
  // As CheckServerAddress (server_address.h) takes it.
  std::string address = "127.0.0.1:50051";
  // Per call; positive, absl::InfiniteDuration() = none.
  absl::Duration deadline = absl::Seconds(30);
  ClientCredentials credentials = {};
};

class SemrankClient {
 public:
  // InvalidArgument for bad options. Does not connect yet.
  static absl::StatusOr<std::unique_ptr<SemrankClient>> Create(
      const ClientOptions& options);

  // The response is checked: indices and scores are parallel, and every index
  // is one of the request's candidates.
  absl::StatusOr<v1::RankResponse> Rank(const v1::RankRequest& request);

  absl::StatusOr<v1::ExplainResponse> Explain(
      const v1::ExplainRequest& request);

  // The response is checked: one vector a text, of the encoding asked for.
  absl::StatusOr<v1::EmbedTextsResponse> EmbedTexts(
      const v1::EmbedTextsRequest& request);

  // Embeds any number of texts over one stream, a thousand or a mebibyte in a
  // message. `take` gets the answers in order, in this thread, each checked:
  // one vector a text, zeros for the texts in `problems`; an error of it ends
  // the call. What was taken before an error stays taken. The deadline counts
  // once for each thousand texts.
  absl::Status EmbedTextsStream(
      const v1::EmbedTextsRequest& request,
      const std::function<absl::Status(const v1::EmbedTextsStreamResponse&)>&
          take);

  absl::StatusOr<v1::Model> GetModel(const v1::ModelRef& model);

  absl::StatusOr<v1::Limits> GetLimits();

  // `service` = "" or a full name such as "semrank.v1.RankingService"; one that
  // the server does not know is NotFound.
  absl::StatusOr<grpc::health::v1::HealthCheckResponse::ServingStatus>
  CheckHealth(std::string_view service);

 private:
  explicit SemrankClient(const ClientOptions& options);

  template <typename Stub, typename Request, typename Response>
  absl::StatusOr<Response> Call(
      Stub& stub,
      grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                   Response*),
      const Request& request);
  // Deadline of a call of so many messages, and the key.
  void PrepareContext(int num_messages, grpc::ClientContext& context) const;
  absl::Status DescribeFailure(const grpc::Status& status);

  const ClientOptions options_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::RankingService::Stub> ranking_;
  const std::unique_ptr<v1::EmbeddingService::Stub> embedding_;
  const std::unique_ptr<v1::ModelService::Stub> model_;
  const std::unique_ptr<grpc::health::v1::Health::Stub> health_;
};

}  // namespace semrank

#endif  // SEMRANK_CLIENT_SEMRANK_CLIENT_H_
