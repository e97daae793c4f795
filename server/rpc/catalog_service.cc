#include "server/rpc/catalog_service.h"

namespace semrank {
namespace {

constexpr char kService[] = "semrank.v1.CatalogService";

}  // namespace

CatalogService::CatalogService(const RpcEnvironment& environment)
    : put_documents_(
          environment.metrics->AddRpc(kService, "PutDocuments", "unary")),
      put_documents_stream_(environment.metrics->AddRpc(
          kService, "PutDocumentsStream", "bidi_stream")),
      get_documents_(
          environment.metrics->AddRpc(kService, "GetDocuments", "unary")),
      delete_documents_(
          environment.metrics->AddRpc(kService, "DeleteDocuments", "unary")),
      search_documents_(
          environment.metrics->AddRpc(kService, "SearchDocuments", "unary")) {}

grpc::ServerUnaryReactor* CatalogService::PutDocuments(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* /*request*/,
    grpc::ByteBuffer* /*response*/) {
  return AnswerUnimplemented("CatalogService.PutDocuments", put_documents_,
                             context);
}

RawStreamReactor* CatalogService::PutDocumentsStream(
    grpc::CallbackServerContext* /*context*/) {
  return AnswerUnimplementedStream("CatalogService.PutDocumentsStream",
                                   put_documents_stream_);
}

grpc::ServerUnaryReactor* CatalogService::GetDocuments(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* /*request*/,
    grpc::ByteBuffer* /*response*/) {
  return AnswerUnimplemented("CatalogService.GetDocuments", get_documents_,
                             context);
}

grpc::ServerUnaryReactor* CatalogService::DeleteDocuments(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* /*request*/,
    grpc::ByteBuffer* /*response*/) {
  return AnswerUnimplemented("CatalogService.DeleteDocuments",
                             delete_documents_, context);
}

grpc::ServerUnaryReactor* CatalogService::SearchDocuments(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* /*request*/,
    grpc::ByteBuffer* /*response*/) {
  return AnswerUnimplemented("CatalogService.SearchDocuments",
                             search_documents_, context);
}

}  // namespace semrank
