// A gRPC server in the test's process whose answers the test gives.
//
//   Threads  every method, from any thread.
#ifndef SEMRANK_TESTS_CLIENT_LIB_FAKE_SERVER_H_
#define SEMRANK_TESTS_CLIENT_LIB_FAKE_SERVER_H_

#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "model/base/mutex.h"
#include "semrank/v1/catalog_service.grpc.pb.h"
#include "semrank/v1/embedding_service.grpc.pb.h"
#include "semrank/v1/event_service.grpc.pb.h"
#include "semrank/v1/model_service.grpc.pb.h"
#include "semrank/v1/ranking_service.grpc.pb.h"

namespace semrank {

// Ranks titles in the order of the request, with scores 0.75, 0.5, 0.25, ...
// and obeys top_k and min_score. Every third title was cached.
grpc::Status RankInOrder(const v1::RankRequest& request,
                         v1::RankResponse* response);

// Vector of text i: (i, 0.1, -0.5).
grpc::Status EmbedByPosition(const v1::EmbedTextsRequest& request,
                             v1::EmbedTextsResponse* response);

// "edit photos" and "photo editor", of which "edit" speaks for the title and
// "editor" against it; one pooling unit for the query.
grpc::Status ExplainEditPhotos(const v1::ExplainRequest& request,
                               v1::ExplainResponse* response);

// "shop" 4, which failed, on the first page; 3, which serves, on the second.
grpc::Status ListShop(const v1::ListModelsRequest& request,
                      v1::ListModelsResponse* response);

// Version 3 is current; another one becomes so.
grpc::Status ReloadShop(const v1::ReloadModelRequest& request,
                        v1::ReloadModelResponse* response);

grpc::Status AcceptEvents(const v1::ReportEventsRequest& request,
                          v1::ReportEventsResponse* response);

// A failed call as semrank's server sends it, with one ErrorInfo.
grpc::Status ServerError(grpc::StatusCode code, const std::string& reason,
                         const std::string& message);

class FakeServer final : private v1::RankingService::Service,
                         private v1::EmbeddingService::Service,
                         private v1::ModelService::Service,
                         private v1::CatalogService::Service,
                         private v1::EventService::Service {
 public:
  template <typename Request, typename Response>
  using Handler = std::function<grpc::Status(const Request&, Response*)>;

  FakeServer();
  ~FakeServer() override;

  const std::string& address() const { return address_; }
  void SetServing(const std::string& service, bool serving);
  // From now on nothing listens at the address.
  void Stop();

  // What answers from now on; until then RankInOrder, EmbedByPosition and an
  // empty model do.
  void OnRank(Handler<v1::RankRequest, v1::RankResponse> handler);
  void OnGetModel(Handler<v1::GetModelRequest, v1::GetModelResponse> handler);
  // By default all events are accepted.
  void OnReportEvents(
      Handler<v1::ReportEventsRequest, v1::ReportEventsResponse> handler);
  // By default no document is found.
  void OnGetDocuments(
      Handler<v1::GetDocumentsRequest, v1::GetDocumentsResponse> handler);

  // From now on a stream of documents ends with `status` after its first
  // response.
  void EndPuts(const grpc::Status& status);

  // From now on a stream of documents calls `then` after its first response,
  // and hangs until the client cancels it.
  void HangPuts(std::function<void()> then);
  // By default a search is not implemented.
  void OnSearch(
      Handler<v1::SearchDocumentsRequest, v1::SearchDocumentsResponse> handler);

  // From now on GetLimits names these; messages of EmbedTexts and its stream
  // with more bytes are refused.
  void SetLimits(const v1::Limits& limits);
  int num_get_limits() const;

  // The next `num_calls` calls of Rank and streams are rejected as by an
  // overloaded server, with this trailer grpc-retry-pushback-ms; a stream is
  // once its first message is answered.
  void RejectNext(int num_calls, const std::string& pushback);
  // Calls of Rank, and streams, the refused ones included.
  int num_calls() const;

  // The requests that came last.
  v1::RankRequest last_rank() const;
  v1::EmbedTextsRequest last_embed() const;

 private:
  // What a refused call ends with; nothing for others.
  std::optional<grpc::Status> Refuse(grpc::ServerContext* context);
  grpc::Status Rank(grpc::ServerContext* context,
                    const v1::RankRequest* request,
                    v1::RankResponse* response) override;
  grpc::Status Answer(const v1::RankRequest& request,
                      v1::RankResponse* response);
  // As Rank; the query "later" is answered last.
  grpc::Status RankStream(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<v1::RankStreamResponse, v1::RankStreamRequest>*
          stream) override;
  grpc::Status Explain(grpc::ServerContext*, const v1::ExplainRequest* request,
                       v1::ExplainResponse* response) override {
    return ExplainEditPhotos(*request, response);
  }
  grpc::Status ReportEvents(grpc::ServerContext*,
                            const v1::ReportEventsRequest* request,
                            v1::ReportEventsResponse* response) override;
  grpc::Status ListModels(grpc::ServerContext*,
                          const v1::ListModelsRequest* request,
                          v1::ListModelsResponse* response) override {
    return ListShop(*request, response);
  }
  grpc::Status ReloadModel(grpc::ServerContext*,
                           const v1::ReloadModelRequest* request,
                           v1::ReloadModelResponse* response) override {
    return ReloadShop(*request, response);
  }
  grpc::Status GetLimits(grpc::ServerContext*, const v1::GetLimitsRequest*,
                         v1::GetLimitsResponse* response) override {
    const MutexLock lock(mutex_);
    ++num_get_limits_;
    *response->mutable_limits() = limits_;
    return grpc::Status::OK;
  }
  grpc::Status CheckSize(const google::protobuf::MessageLite& message) const;
  // As EmbedTexts, chunk by chunk; a text "bad" is a problem.
  grpc::Status EmbedTextsStream(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<v1::EmbedTextsStreamResponse,
                               v1::EmbedTextsStreamRequest>* stream) override;
  grpc::Status GetDocuments(grpc::ServerContext*,
                            const v1::GetDocumentsRequest* request,
                            v1::GetDocumentsResponse* response) override;
  grpc::Status SearchDocuments(grpc::ServerContext*,
                               const v1::SearchDocumentsRequest* request,
                               v1::SearchDocumentsResponse* response) override;
  // Every document is new.
  grpc::Status PutDocumentsStream(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<v1::PutDocumentsStreamResponse,
                               v1::PutDocumentsStreamRequest>* stream) override;
  grpc::Status EmbedTexts(grpc::ServerContext*,
                          const v1::EmbedTextsRequest* request,
                          v1::EmbedTextsResponse* response) override;
  grpc::Status GetModel(grpc::ServerContext*,
                        const v1::GetModelRequest* request,
                        v1::GetModelResponse* response) override;

  mutable Mutex mutex_;
  Handler<v1::RankRequest, v1::RankResponse> rank_ ABSL_GUARDED_BY(mutex_) =
      RankInOrder;
  Handler<v1::GetModelRequest, v1::GetModelResponse> get_model_ ABSL_GUARDED_BY(
      mutex_) = [](const auto&, auto*) { return grpc::Status::OK; };
  Handler<v1::ReportEventsRequest, v1::ReportEventsResponse> report_
      ABSL_GUARDED_BY(mutex_) = AcceptEvents;
  Handler<v1::GetDocumentsRequest, v1::GetDocumentsResponse> get_documents_
      ABSL_GUARDED_BY(mutex_) =
          [](const auto&, auto*) { return grpc::Status::OK; };
  Handler<v1::SearchDocumentsRequest, v1::SearchDocumentsResponse> search_
      ABSL_GUARDED_BY(mutex_) = [](const auto&, auto*) {
        return grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "");
      };
  std::function<void()> hang_puts_ ABSL_GUARDED_BY(mutex_);
  v1::RankRequest last_rank_ ABSL_GUARDED_BY(mutex_);
  v1::EmbedTextsRequest last_embed_ ABSL_GUARDED_BY(mutex_);
  std::optional<grpc::Status> end_puts_ ABSL_GUARDED_BY(mutex_);
  v1::Limits limits_ ABSL_GUARDED_BY(mutex_);
  int num_get_limits_ ABSL_GUARDED_BY(mutex_) = 0;
  int num_rejections_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string pushback_ ABSL_GUARDED_BY(mutex_);
  int num_calls_ ABSL_GUARDED_BY(mutex_) = 0;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_CLIENT_LIB_FAKE_SERVER_H_
