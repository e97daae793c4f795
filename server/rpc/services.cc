#include "server/rpc/services.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "semrank/v1/catalog_service.grpc.pb.h"
#include "semrank/v1/embedding_service.grpc.pb.h"
#include "semrank/v1/model_service.grpc.pb.h"
#include "semrank/v1/ranking_service.grpc.pb.h"
#include "server/base/errors.h"
#include "server/requests/embed_work.h"
#include "server/requests/error_status.h"
#include "server/requests/method_works.h"
#include "server/requests/rank_work.h"
#include "server/rpc/stream_call.h"
#include "server/rpc/unary_call.h"

namespace semrank {
namespace {

// All methods are raw: gRPC 1.51 answers bytes that its own parser refuses with
// an empty UNIMPLEMENTED, on a stream with a silent end.
using RankingServiceBase = v1::RankingService::WithRawCallbackMethod_Rank<
    v1::RankingService::WithRawCallbackMethod_RankStream<
        v1::RankingService::WithRawCallbackMethod_Explain<
            v1::RankingService::Service>>>;
using EmbeddingServiceBase =
    v1::EmbeddingService::WithRawCallbackMethod_EmbedTexts<
        v1::EmbeddingService::WithRawCallbackMethod_EmbedTextsStream<
            v1::EmbeddingService::Service>>;
using CatalogServiceBase =
    v1::CatalogService::WithRawCallbackMethod_PutDocuments<
        v1::CatalogService::WithRawCallbackMethod_PutDocumentsStream<
            v1::CatalogService::WithRawCallbackMethod_GetDocuments<
                v1::CatalogService::WithRawCallbackMethod_DeleteDocuments<
                    v1::CatalogService::WithRawCallbackMethod_SearchDocuments<
                        v1::CatalogService::Service>>>>>;
using ModelServiceBase = v1::ModelService::WithRawCallbackMethod_GetModel<
    v1::ModelService::WithRawCallbackMethod_ListModels<
        v1::ModelService::WithRawCallbackMethod_ReloadModel<
            v1::ModelService::WithRawCallbackMethod_GetLimits<
                v1::ModelService::Service>>>>;

using grpc::ByteBuffer;
using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;

// What the methods of one service share.
class Methods {
 public:
  Methods(const ServerParts& parts, OpenCalls& calls, const char* service)
      : parts_(parts), calls_(calls), service_(service) {}

  // Counters exist before the first call, so their series begin at 0.
  Metrics::Rpc Unary(const char* method) const {
    return parts_.metrics->AddRpc(service_, method, "unary");
  }
  Metrics::Stream Stream(const char* method) const {
    return parts_.metrics->AddStream(service_, method);
  }

  ServerUnaryReactor* Start(const Metrics::Rpc& rpc, MakeWork make_work,
                            const RawCall& raw) const {
    return UnaryCall::Start(parts_, calls_, rpc, raw, make_work(parts_));
  }
  // The stream deletes itself.
  template <typename Call>
  RawStreamReactor* StartStream(const Metrics::Stream& metrics,
                                CallbackServerContext& context,
                                int max_requests, Role role) const {
    // Begin may finish the stream already. That is safe before the method
    // returns: gRPC keeps operations back until it has bound the reactor.
    auto* const call = new Call(parts_, calls_, metrics, context, max_requests);
    call->Begin(role);
    return call;
  }
  const ServerParts& parts() const { return parts_; }

 private:
  // A copy, to which calls keep references; the services outlive them.
  const ServerParts parts_;
  OpenCalls& calls_;
  const char* const service_;
};

// A request of a RankStream. It is answered when it is done, by its number,
// also when it fails.
class StreamedRank final : public StreamedRequest {
 public:
  StreamedRank(StreamCall& stream, grpc::Slice bytes)
      : StreamedRank(stream, std::move(bytes),
                     std::make_unique<v1::RankStreamResponse>()) {}

 private:
  StreamedRank(StreamCall& stream, grpc::Slice bytes,
               std::unique_ptr<v1::RankStreamResponse> response)
      : StreamedRequest(stream, std::move(bytes),
                        MakeStreamedRankWork(stream.parts(), *response)),
        response_(std::move(response)) {}

  void Done(const absl::Status& status) override {
    const std::unique_ptr<StreamedRank> self(this);
    // The number of a malformed request is not known, or not to be believed.
    if (ErrorReason(status) == kMalformedReason) return stream().End(status);
    // On a stream, gRPC's status would end all of its requests. So a failure
    // travels in the response, with the details that a unary call has.
    if (!status.ok()) {
      *response_->mutable_status() = ToRpcStatus(status);
      const absl::Status made = SerializeResponse(*response_);
      if (!made.ok()) return stream().End(made);
    }
    // Before Answer, after which the stream may be gone.
    stream().Record(status, response_->request_number(), TimeSinceReceived());
    stream().Answer(status, answer());
  }

  const std::unique_ptr<v1::RankStreamResponse> response_;
};

class RankStreamCall final : public StreamCall {
 public:
  using StreamCall::StreamCall;

 private:
  void Take(grpc::Slice bytes) override {
    StreamedRequest::Begin(
        std::make_unique<StreamedRank>(*this, std::move(bytes)));
  }
};

// A message of a stream that is answered in order. A message that cannot be
// answered ends the stream, so the client knows from the answers how far it
// came.
class OrderedMessage final : public StreamedRequest {
 public:
  // Message `number` of the stream, from 1.
  OrderedMessage(StreamCall& stream, grpc::Slice bytes,
                 std::unique_ptr<RequestWork> work, std::uint64_t number)
      : StreamedRequest(stream, std::move(bytes), std::move(work)),
        number_(number) {}

 private:
  void Done(const absl::Status& status) override {
    const std::unique_ptr<OrderedMessage> self(this);
    if (!status.ok()) return stream().End(status);
    stream().Record(status, number_, TimeSinceReceived());
    stream().Answer(status, answer());
  }

  const std::uint64_t number_;
};

// One message at a time, which keeps the order. make_work takes the parts and
// the State, which belongs to the one message that is worked on.
template <typename State, std::unique_ptr<RequestWork> (*make_work)(
                              const ServerParts& parts, State& state)>
class OrderedStreamCall final : public StreamCall {
 public:
  using StreamCall::StreamCall;

 private:
  void Take(grpc::Slice bytes) override {
    StreamedRequest::Begin(std::make_unique<OrderedMessage>(
        *this, std::move(bytes), make_work(parts(), state_), ++num_messages_));
  }

  State state_ = {};
  std::uint64_t num_messages_ = 0;
};

using EmbedStreamCall =
    OrderedStreamCall<EmbedStreamState, MakeStreamedEmbedWork>;
using PutStreamCall = OrderedStreamCall<std::uint64_t, MakeStreamedPutWork>;

class RankingService final : public RankingServiceBase {
 public:
  RankingService(const ServerParts& parts, OpenCalls& calls)
      : methods_(parts, calls, v1::RankingService::service_full_name()) {}

  ServerUnaryReactor* Rank(CallbackServerContext* context,
                           const ByteBuffer* request,
                           ByteBuffer* response) override {
    return methods_.Start(rank_, MakeRankWork, {context, request, response});
  }
  RawStreamReactor* RankStream(CallbackServerContext* context) override {
    const auto max_requests =
        static_cast<int>(methods_.parts().limits.max_requests_per_stream);
    return methods_.StartStream<RankStreamCall>(rank_stream_, *context,
                                                max_requests, Role::kRead);
  }
  ServerUnaryReactor* Explain(CallbackServerContext* context,
                              const ByteBuffer* request,
                              ByteBuffer* response) override {
    return methods_.Start(explain_, MakeExplainWork,
                          {context, request, response});
  }

 private:
  const Methods methods_;
  const Metrics::Rpc rank_ = methods_.Unary("Rank");
  const Metrics::Stream rank_stream_ = methods_.Stream("RankStream");
  const Metrics::Rpc explain_ = methods_.Unary("Explain");
};

class EmbeddingService final : public EmbeddingServiceBase {
 public:
  EmbeddingService(const ServerParts& parts, OpenCalls& calls)
      : methods_(parts, calls, v1::EmbeddingService::service_full_name()) {}

  ServerUnaryReactor* EmbedTexts(CallbackServerContext* context,
                                 const ByteBuffer* request,
                                 ByteBuffer* response) override {
    return methods_.Start(embed_texts_, MakeEmbedWork,
                          {context, request, response});
  }
  RawStreamReactor* EmbedTextsStream(CallbackServerContext* context) override {
    return methods_.StartStream<EmbedStreamCall>(
        embed_texts_stream_, *context, /*max_requests=*/1, Role::kRead);
  }

 private:
  const Methods methods_;
  const Metrics::Rpc embed_texts_ = methods_.Unary("EmbedTexts");
  const Metrics::Stream embed_texts_stream_ =
      methods_.Stream("EmbedTextsStream");
};

class CatalogService final : public CatalogServiceBase {
 public:
  CatalogService(const ServerParts& parts, OpenCalls& calls)
      : methods_(parts, calls, v1::CatalogService::service_full_name()) {}

  ServerUnaryReactor* PutDocuments(CallbackServerContext* context,
                                   const ByteBuffer* request,
                                   ByteBuffer* response) override {
    return methods_.Start(put_documents_, MakePutWork,
                          {context, request, response, Role::kWrite});
  }
  RawStreamReactor* PutDocumentsStream(
      CallbackServerContext* context) override {
    return methods_.StartStream<PutStreamCall>(
        put_documents_stream_, *context, /*max_requests=*/1, Role::kWrite);
  }
  ServerUnaryReactor* GetDocuments(CallbackServerContext* context,
                                   const ByteBuffer* request,
                                   ByteBuffer* response) override {
    return methods_.Start(get_documents_, MakeGetWork,
                          {context, request, response});
  }
  ServerUnaryReactor* DeleteDocuments(CallbackServerContext* context,
                                      const ByteBuffer* request,
                                      ByteBuffer* response) override {
    return methods_.Start(delete_documents_, MakeDeleteWork,
                          {context, request, response, Role::kWrite});
  }
  ServerUnaryReactor* SearchDocuments(CallbackServerContext* context,
                                      const ByteBuffer* request,
                                      ByteBuffer* response) override {
    return methods_.Start(search_documents_, MakeSearchWork,
                          {context, request, response});
  }

 private:
  const Methods methods_;
  const Metrics::Rpc put_documents_ = methods_.Unary("PutDocuments");
  const Metrics::Stream put_documents_stream_ =
      methods_.Stream("PutDocumentsStream");
  const Metrics::Rpc get_documents_ = methods_.Unary("GetDocuments");
  const Metrics::Rpc delete_documents_ = methods_.Unary("DeleteDocuments");
  const Metrics::Rpc search_documents_ = methods_.Unary("SearchDocuments");
};

class ModelService final : public ModelServiceBase {
 public:
  ModelService(const ServerParts& parts, OpenCalls& calls)
      : methods_(parts, calls, v1::ModelService::service_full_name()) {}

  ServerUnaryReactor* GetModel(CallbackServerContext* context,
                               const ByteBuffer* request,
                               ByteBuffer* response) override {
    return methods_.Start(get_model_, MakeGetModelWork,
                          {context, request, response});
  }
  ServerUnaryReactor* ListModels(CallbackServerContext* context,
                                 const ByteBuffer* request,
                                 ByteBuffer* response) override {
    return methods_.Start(list_models_, MakeListModelsWork,
                          {context, request, response});
  }
  ServerUnaryReactor* ReloadModel(CallbackServerContext* context,
                                  const ByteBuffer* request,
                                  ByteBuffer* response) override {
    return methods_.Start(reload_model_, MakeReloadModelWork,
                          {context, request, response, Role::kAdmin});
  }
  ServerUnaryReactor* GetLimits(CallbackServerContext* context,
                                const ByteBuffer* request,
                                ByteBuffer* response) override {
    return methods_.Start(get_limits_, MakeGetLimitsWork,
                          {context, request, response});
  }

 private:
  const Methods methods_;
  const Metrics::Rpc get_model_ = methods_.Unary("GetModel");
  const Metrics::Rpc list_models_ = methods_.Unary("ListModels");
  const Metrics::Rpc reload_model_ = methods_.Unary("ReloadModel");
  const Metrics::Rpc get_limits_ = methods_.Unary("GetLimits");
};

}  // namespace

std::vector<std::unique_ptr<grpc::Service>> MakeServices(
    const ServerParts& parts, OpenCalls& calls) {
  std::vector<std::unique_ptr<grpc::Service>> services;
  services.push_back(std::make_unique<RankingService>(parts, calls));
  services.push_back(std::make_unique<EmbeddingService>(parts, calls));
  services.push_back(std::make_unique<CatalogService>(parts, calls));
  services.push_back(std::make_unique<ModelService>(parts, calls));
  return services;
}

}  // namespace semrank
