#include "server/rpc/catalog_service.h"

#include <memory>

#include "server/requests/document_keys_work.h"
#include "server/requests/put_work.h"
#include "server/requests/search_work.h"
#include "server/rpc/put_documents_stream.h"

namespace semrank {
namespace {

constexpr char kCatalogService[] = "semrank.v1.CatalogService";

}  // namespace

CatalogService::CatalogService(const RpcEnvironment& environment)
    : environment_(environment),
      put_documents_(environment.metrics->AddRpc(kCatalogService,
                                                 "PutDocuments", "unary")),
      put_documents_stream_(environment.metrics->AddStream(
          kCatalogService, "PutDocumentsStream")),
      get_documents_(environment.metrics->AddRpc(kCatalogService,
                                                 "GetDocuments", "unary")),
      delete_documents_(environment.metrics->AddRpc(
          kCatalogService, "DeleteDocuments", "unary")),
      search_documents_(environment.metrics->AddRpc(
          kCatalogService, "SearchDocuments", "unary")) {}

grpc::ServerUnaryReactor* CatalogService::PutDocuments(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* response) {
  return UnaryCall::Start(environment_, put_documents_,
                          {context, request, response, Role::kWrite},
                          std::make_unique<PutWork>(environment_));
}

RawStreamReactor* CatalogService::PutDocumentsStream(
    grpc::CallbackServerContext* context) {
  return semrank::PutDocumentsStream::Start(environment_, put_documents_stream_,
                                            *context);
}

grpc::ServerUnaryReactor* CatalogService::GetDocuments(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* response) {
  return UnaryCall::Start(environment_, get_documents_,
                          {context, request, response},
                          std::make_unique<GetWork>(environment_));
}

grpc::ServerUnaryReactor* CatalogService::DeleteDocuments(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* response) {
  return UnaryCall::Start(environment_, delete_documents_,
                          {context, request, response, Role::kWrite},
                          std::make_unique<DeleteWork>(environment_));
}

grpc::ServerUnaryReactor* CatalogService::SearchDocuments(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* response) {
  return UnaryCall::Start(environment_, search_documents_,
                          {context, request, response},
                          std::make_unique<SearchWork>(environment_));
}

}  // namespace semrank
