// semrank.v1.CatalogService: documents by id.
#ifndef SEMRANK_SERVER_RPC_CATALOG_SERVICE_H_
#define SEMRANK_SERVER_RPC_CATALOG_SERVICE_H_

#include "semrank/v1/catalog_service.grpc.pb.h"
#include "server/rpc/stream_call.h"
#include "server/rpc/unary_call.h"
#include "server/rpc/unary_messages.h"

namespace semrank {

using CatalogServiceBase =
    v1::CatalogService::WithRawCallbackMethod_PutDocuments<
        v1::CatalogService::WithRawCallbackMethod_PutDocumentsStream<
            v1::CatalogService::WithRawCallbackMethod_GetDocuments<
                v1::CatalogService::WithRawCallbackMethod_DeleteDocuments<
                    v1::CatalogService::WithRawCallbackMethod_SearchDocuments<
                        v1::CatalogService::Service>>>>>;

class CatalogService final
    : public WithUnaryMessages<v1::CatalogService, CatalogServiceBase> {
 public:
  explicit CatalogService(const RpcEnvironment& environment);

  grpc::ServerUnaryReactor* PutDocuments(grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) override;
  RawStreamReactor* PutDocumentsStream(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* GetDocuments(grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* DeleteDocuments(
      grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
      grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* SearchDocuments(
      grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
      grpc::ByteBuffer* response) override;

 private:
  const RpcEnvironment environment_;
  const Metrics::Rpc put_documents_;
  const Metrics::Stream put_documents_stream_;
  const Metrics::Rpc get_documents_;
  const Metrics::Rpc delete_documents_;
  const Metrics::Rpc search_documents_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_CATALOG_SERVICE_H_
