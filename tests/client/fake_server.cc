#include "tests/client/fake_server.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace semrank {

grpc::Status RankInOrder(const v1::RankRequest& request,
                         v1::RankResponse* response) {
  for (int i = 0; i < request.titles_size(); ++i) {
    const float score = 0.75f - 0.25f * static_cast<float>(i);
    if (request.has_min_score() && score < request.min_score()) continue;
    if (request.top_k() > 0 &&
        response->indices_size() == static_cast<int>(request.top_k())) {
      break;
    }
    response->add_indices(i);
    response->add_scores(score);
  }
  response->mutable_model()->set_name("shop");
  response->mutable_model()->set_version(3);
  response->set_score_kind(v1::SCORE_KIND_COSINE);
  response->set_cache_hits(request.titles_size() / 3);
  response->set_cache_misses(request.titles_size() - request.titles_size() / 3);
  response->mutable_timings()->set_embed_nanos(1'500'000);
  response->mutable_timings()->set_total_nanos(2'250'000);
  return grpc::Status::OK;
}

grpc::Status EmbedByPosition(const v1::EmbedTextsRequest& request,
                             v1::EmbedTextsResponse* response) {
  std::string vectors;
  for (int i = 0; i < request.texts_size(); ++i) {
    const float vector[] = {static_cast<float>(i), 0.1f, -0.5f};
    char bytes[sizeof(vector)];
    std::memcpy(bytes, vector, sizeof(vector));
    vectors.append(bytes, sizeof(bytes));
  }
  response->set_vectors(vectors);
  response->set_embedding_dim(3);
  response->set_encoding(v1::VECTOR_ENCODING_FLOAT32);
  response->mutable_model()->set_name("shop");
  response->mutable_model()->set_version(3);
  return grpc::Status::OK;
}

grpc::Status ServerError(grpc::StatusCode code, const std::string& reason,
                         const std::string& message) {
  google::rpc::ErrorInfo info;
  info.set_reason(reason);
  info.set_domain("semrank");
  google::rpc::Status status;
  status.set_code(code);
  status.set_message(message);
  status.add_details()->PackFrom(info);
  return grpc::Status(code, message, status.SerializeAsString());
}

FakeServer::FakeServer() {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                           &port);
  builder.RegisterService(static_cast<v1::RankingService::Service*>(this));
  builder.RegisterService(static_cast<v1::EmbeddingService::Service*>(this));
  builder.RegisterService(static_cast<v1::ModelService::Service*>(this));
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) std::abort();
  address_ = "127.0.0.1:" + std::to_string(port);
}

FakeServer::~FakeServer() { Stop(); }

void FakeServer::SetServing(const std::string& service, bool serving) {
  server_->GetHealthCheckService()->SetServingStatus(service, serving);
}

void FakeServer::Stop() { server_->Shutdown(); }

void FakeServer::OnRank(Handler<v1::RankRequest, v1::RankResponse> handler) {
  const MutexLock lock(mutex_);
  rank_ = std::move(handler);
}

void FakeServer::OnGetModel(
    Handler<v1::GetModelRequest, v1::GetModelResponse> handler) {
  const MutexLock lock(mutex_);
  get_model_ = std::move(handler);
}

v1::RankRequest FakeServer::last_rank() const {
  const MutexLock lock(mutex_);
  return last_rank_;
}

v1::EmbedTextsRequest FakeServer::last_embed() const {
  const MutexLock lock(mutex_);
  return last_embed_;
}

grpc::Status FakeServer::Rank(grpc::ServerContext*,
                              const v1::RankRequest* request,
                              v1::RankResponse* response) {
  Handler<v1::RankRequest, v1::RankResponse> handler;
  {
    const MutexLock lock(mutex_);
    last_rank_ = *request;
    handler = rank_;
  }
  return handler(*request, response);  // may wait for the test
}

grpc::Status FakeServer::EmbedTexts(grpc::ServerContext*,
                                    const v1::EmbedTextsRequest* request,
                                    v1::EmbedTextsResponse* response) {
  {
    const MutexLock lock(mutex_);
    last_embed_ = *request;
  }
  return EmbedByPosition(*request, response);
}

grpc::Status FakeServer::GetModel(grpc::ServerContext*,
                                  const v1::GetModelRequest* request,
                                  v1::GetModelResponse* response) {
  const MutexLock lock(mutex_);
  return get_model_(*request, response);
}

}  // namespace semrank
