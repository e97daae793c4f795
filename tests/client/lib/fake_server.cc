#include "tests/client/lib/fake_server.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/time/clock.h"
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

grpc::Status ExplainEditPhotos(const v1::ExplainRequest& request,
                               v1::ExplainResponse* response) {
  const auto set = [](const char* text, float without, float contribution,
                      v1::WordContribution* word) {
    word->set_word(text);
    word->set_score_without(without);
    word->set_contribution(contribution);
    word->set_num_features(6);
    word->set_num_known_features(4);
  };
  response->set_score(0.5f);
  response->set_score_kind(v1::SCORE_KIND_COSINE);
  set("edit", 0.25f, 0.25f, response->add_query_words());
  set("photos", 0.5f, 0, response->add_query_words());
  set("photo", 0.375f, 0.125f, response->add_title_words());
  set("editor", 0.625f, -0.125f, response->add_title_words());
  response->set_semantic_part(0.5f);
  // A title that has a lexical part.
  if (request.title() == "edit disks") {
    response->set_semantic_part(0.25f);
    response->set_lexical_part(0.25f);
    v1::WordContribution& edit = *response->mutable_query_words(0);
    edit.set_in_other_text(true);
    edit.set_lexical_part(0.1875f);
    v1::NgramMatch& match = *edit.add_matches();
    match.set_ngram("#ed");
    match.set_lexical_part(0.1875f);
    v1::WordContribution& photos = *response->mutable_query_words(1);
    photos.set_lexical_part(0.0625f);
    photos.add_matches()->set_ngram("os#");
    photos.add_matches()->set_ngram("ks#");
  }
  v1::PoolingWinner& winner = *response->add_query_pooling();
  winner.set_unit(17);
  winner.set_activation(0.75f);
  winner.set_position(1);
  winner.set_word("photos");
  winner.set_window("edit photos");
  response->set_title(request.title());
  response->mutable_model()->set_name("shop");
  response->mutable_model()->set_version(3);
  return grpc::Status::OK;
}

grpc::Status ListShop(const v1::ListModelsRequest& request,
                      v1::ListModelsResponse* response) {
  v1::Model& model = *response->add_models();
  model.set_name("shop");
  if (request.page_token().empty()) {
    model.set_version(4);
    model.set_state(v1::MODEL_STATE_FAILED);
    model.mutable_failure()->set_message("weights.safetensors: cut");
    response->set_next_page_token("second");
  } else {
    model.set_version(3);
    model.set_state(v1::MODEL_STATE_SERVING);
    model.set_current(true);
  }
  return grpc::Status::OK;
}

grpc::Status ReloadShop(const v1::ReloadModelRequest& request,
                        v1::ReloadModelResponse* response) {
  if (request.model().version() == 4) {
    return ServerError(grpc::StatusCode::DATA_LOSS, "MODEL_DAMAGED",
                       "weights.safetensors: cut");
  }
  response->mutable_model()->set_name("shop");
  response->mutable_model()->set_version(request.model().version());
  response->mutable_model()->set_state(v1::MODEL_STATE_SERVING);
  response->mutable_previous()->set_name("shop");
  response->mutable_previous()->set_version(3);
  response->set_changed(request.model().version() != 3);
  return grpc::Status::OK;
}

grpc::Status AcceptEvents(const v1::ReportEventsRequest& request,
                          v1::ReportEventsResponse* response) {
  response->set_accepted(static_cast<std::uint32_t>(request.events_size()));
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
  limits_.set_max_texts_per_request(1'000);
  limits_.set_max_request_bytes(5'000'000'000);
  limits_.set_max_share_per_caller(0.5);
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                           &port);
  builder.RegisterService(static_cast<v1::RankingService::Service*>(this));
  builder.RegisterService(static_cast<v1::EmbeddingService::Service*>(this));
  builder.RegisterService(static_cast<v1::ModelService::Service*>(this));
  builder.RegisterService(static_cast<v1::CatalogService::Service*>(this));
  builder.RegisterService(static_cast<v1::EventService::Service*>(this));
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

void FakeServer::OnReportEvents(
    Handler<v1::ReportEventsRequest, v1::ReportEventsResponse> handler) {
  const MutexLock lock(mutex_);
  report_ = std::move(handler);
}

void FakeServer::OnGetDocuments(
    Handler<v1::GetDocumentsRequest, v1::GetDocumentsResponse> handler) {
  const MutexLock lock(mutex_);
  get_documents_ = std::move(handler);
}

void FakeServer::EndPuts(const grpc::Status& status) {
  const MutexLock lock(mutex_);
  end_puts_ = status;
}

void FakeServer::HangPuts(std::function<void()> then) {
  const MutexLock lock(mutex_);
  hang_puts_ = std::move(then);
}

void FakeServer::OnSearch(
    Handler<v1::SearchDocumentsRequest, v1::SearchDocumentsResponse> handler) {
  const MutexLock lock(mutex_);
  search_ = std::move(handler);
}

void FakeServer::SetLimits(const v1::Limits& limits) {
  const MutexLock lock(mutex_);
  limits_ = limits;
}

int FakeServer::num_get_limits() const {
  const MutexLock lock(mutex_);
  return num_get_limits_;
}

grpc::Status FakeServer::CheckSize(
    const google::protobuf::MessageLite& message) const {
  const MutexLock lock(mutex_);
  if (message.ByteSizeLong() <= limits_.max_request_bytes()) {
    return grpc::Status::OK;
  }
  return ServerError(grpc::StatusCode::RESOURCE_EXHAUSTED, "MESSAGE_TOO_LARGE",
                     "a message over the limit");
}

void FakeServer::RejectNext(int num_calls, const std::string& pushback) {
  const MutexLock lock(mutex_);
  num_rejections_ = num_calls;
  pushback_ = pushback;
}

int FakeServer::num_calls() const {
  const MutexLock lock(mutex_);
  return num_calls_;
}

std::optional<grpc::Status> FakeServer::Refuse(grpc::ServerContext* context) {
  const MutexLock lock(mutex_);
  ++num_calls_;
  if (num_rejections_ == 0) return std::nullopt;
  --num_rejections_;
  context->AddTrailingMetadata("grpc-retry-pushback-ms", pushback_);
  return ServerError(grpc::StatusCode::RESOURCE_EXHAUSTED, "OVERLOADED",
                     "too many texts in flight");
}

v1::RankRequest FakeServer::last_rank() const {
  const MutexLock lock(mutex_);
  return last_rank_;
}

v1::EmbedTextsRequest FakeServer::last_embed() const {
  const MutexLock lock(mutex_);
  return last_embed_;
}

grpc::Status FakeServer::Rank(grpc::ServerContext* context,
                              const v1::RankRequest* request,
                              v1::RankResponse* response) {
  const std::optional<grpc::Status> refused = Refuse(context);
  return refused.has_value() ? *refused : Answer(*request, response);
}

grpc::Status FakeServer::Answer(const v1::RankRequest& request,
                                v1::RankResponse* response) {
  Handler<v1::RankRequest, v1::RankResponse> handler;
  {
    const MutexLock lock(mutex_);
    last_rank_ = request;
    handler = rank_;
  }
  return handler(request, response);  // may wait for the test
}

grpc::Status FakeServer::RankStream(
    grpc::ServerContext* context,
    grpc::ServerReaderWriter<v1::RankStreamResponse, v1::RankStreamRequest>*
        stream) {
  const std::optional<grpc::Status> refused = Refuse(context);
  v1::RankStreamRequest message;
  std::optional<v1::RankStreamResponse> later;
  while (stream->Read(&message)) {
    v1::RankStreamResponse answer;
    answer.set_request_number(message.request_number());
    const grpc::Status status =
        Answer(message.request(), answer.mutable_response());
    if (!status.ok()) {
      answer.mutable_status()->ParseFromString(status.error_details());
    }
    if (message.request().query() == "later") {
      later = std::move(answer);
      continue;
    }
    stream->Write(answer);
    if (refused.has_value()) return *refused;
  }
  if (later.has_value()) stream->Write(*later);
  return grpc::Status::OK;
}

grpc::Status FakeServer::EmbedTexts(grpc::ServerContext*,
                                    const v1::EmbedTextsRequest* request,
                                    v1::EmbedTextsResponse* response) {
  {
    const MutexLock lock(mutex_);
    last_embed_ = *request;
  }
  const grpc::Status size = CheckSize(*request);
  return size.ok() ? EmbedByPosition(*request, response) : size;
}

grpc::Status FakeServer::SearchDocuments(
    grpc::ServerContext*, const v1::SearchDocumentsRequest* request,
    v1::SearchDocumentsResponse* response) {
  const MutexLock lock(mutex_);
  return search_(*request, response);
}

grpc::Status FakeServer::PutDocumentsStream(
    grpc::ServerContext* context,
    grpc::ServerReaderWriter<v1::PutDocumentsStreamResponse,
                             v1::PutDocumentsStreamRequest>* stream) {
  v1::PutDocumentsStreamRequest message;
  std::uint64_t num_documents = 0;
  while (stream->Read(&message)) {
    v1::PutDocumentsStreamResponse response;
    response.set_first_document(num_documents);
    response.set_num_created(message.documents_size());
    num_documents += message.documents_size();
    stream->Write(response);
    const MutexLock lock(mutex_);
    if (end_puts_.has_value()) return *end_puts_;
    if (hang_puts_ == nullptr) continue;
    hang_puts_();
    while (!context->IsCancelled()) absl::SleepFor(absl::Milliseconds(1));
  }
  return grpc::Status::OK;
}

grpc::Status FakeServer::EmbedTextsStream(
    grpc::ServerContext* context,
    grpc::ServerReaderWriter<v1::EmbedTextsStreamResponse,
                             v1::EmbedTextsStreamRequest>* stream) {
  const std::optional<grpc::Status> refused = Refuse(context);
  v1::EmbedTextsStreamRequest message;
  std::uint64_t num_texts = 0;
  while (stream->Read(&message)) {
    const grpc::Status size = CheckSize(message);
    if (!size.ok()) return size;
    v1::EmbedTextsRequest request;
    request.set_side(message.side());
    *request.mutable_texts() = message.texts();
    {
      const MutexLock lock(mutex_);
      last_embed_ = request;
    }
    v1::EmbedTextsResponse vectors;
    EmbedByPosition(request, &vectors);
    v1::EmbedTextsStreamResponse chunk;
    chunk.set_first_text(num_texts);
    chunk.set_num_texts(message.texts_size());
    chunk.set_vectors(vectors.vectors());
    chunk.set_embedding_dim(vectors.embedding_dim());
    chunk.set_encoding(vectors.encoding());
    for (int i = 0; i < message.texts_size(); ++i) {
      if (message.texts(i) != "bad") continue;
      chunk.add_problems()->set_index(i);
      chunk.mutable_problems()->rbegin()->mutable_status()->set_message("why");
    }
    if (num_texts == 0) *chunk.mutable_model() = vectors.model();
    num_texts += message.texts_size();
    if (message.texts(0) == "end silently") break;
    while (message.texts(0) == "hang" && !context->IsCancelled()) {
      absl::SleepFor(absl::Milliseconds(1));
    }
    stream->Write(chunk);
    if (refused.has_value()) return *refused;
  }
  return grpc::Status::OK;
}

grpc::Status FakeServer::GetModel(grpc::ServerContext*,
                                  const v1::GetModelRequest* request,
                                  v1::GetModelResponse* response) {
  const MutexLock lock(mutex_);
  return get_model_(*request, response);
}

grpc::Status FakeServer::ReportEvents(grpc::ServerContext* /*context*/,
                                      const v1::ReportEventsRequest* request,
                                      v1::ReportEventsResponse* response) {
  const MutexLock lock(mutex_);
  return report_(*request, response);
}

grpc::Status FakeServer::GetDocuments(grpc::ServerContext* /*context*/,
                                      const v1::GetDocumentsRequest* request,
                                      v1::GetDocumentsResponse* response) {
  const MutexLock lock(mutex_);
  return get_documents_(*request, response);
}

}  // namespace semrank
