// A server whose catalog a test fills and reads by gRPC.
#ifndef SEMRANK_TESTS_SERVER_RPC_CATALOG_FIXTURE_H_
#define SEMRANK_TESTS_SERVER_RPC_CATALOG_FIXTURE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "semrank/v1/catalog_service.grpc.pb.h"
#include "semrank/v1/ranking_service.grpc.pb.h"
#include "tests/server/rpc/rpc_server_fixture.h"

namespace semrank {

class CatalogFixture : public RpcServerFixture {
 protected:
  static void AddNamed(const std::string& name, const std::string& title,
                       v1::PutDocumentsRequest& request) {
    v1::Document& document = *request.add_documents();
    document.set_document_id(name);
    document.set_title(title);
    document.set_payload("about " + name);
  }
  static void AddNumbered(std::uint64_t id, const std::string& title,
                          v1::PutDocumentsRequest& request) {
    v1::Document& document = *request.add_documents();
    document.set_id(id);
    document.set_title(title);
  }
  // Four documents, two in each key space.
  void PutFour() {
    v1::PutDocumentsRequest request;
    AddNamed("gimp", "photo editor", request);
    AddNamed("mutt", "mail reader", request);
    AddNumbered(7, "image viewer", request);
    AddNumbered(8, "music player", request);
    ASSERT_THAT(Put(request), Succeeds());
  }
  grpc::Status Put(const v1::PutDocumentsRequest& request) {
    grpc::ClientContext context;
    put_.Clear();
    return stub_->PutDocuments(&context, request, &put_);
  }
  grpc::Status Get(const v1::GetDocumentsRequest& request) {
    grpc::ClientContext context;
    got_.Clear();
    return stub_->GetDocuments(&context, request, &got_);
  }
  grpc::Status Delete(const v1::DeleteDocumentsRequest& request) {
    grpc::ClientContext context;
    deleted_.Clear();
    return stub_->DeleteDocuments(&context, request, &deleted_);
  }
  grpc::Status Search(const v1::SearchDocumentsRequest& request) {
    grpc::ClientContext context;
    found_.Clear();
    return stub_->SearchDocuments(&context, request, &found_);
  }
  static v1::SearchDocumentsRequest Query(const std::string& query) {
    v1::SearchDocumentsRequest request;
    request.set_query(query);
    return request;
  }
  grpc::Status Rank(const v1::RankRequest& request) {
    grpc::ClientContext context;
    ranked_.Clear();
    return v1::RankingService::NewStub(channel_)->Rank(&context, request,
                                                       &ranked_);
  }
  std::vector<std::string> HitNames() const {
    std::vector<std::string> names;
    for (const v1::DocumentHit& hit : found_.hits()) {
      names.push_back(hit.has_id() ? std::to_string(hit.id())
                                   : hit.document_id());
    }
    return names;
  }

  std::unique_ptr<v1::CatalogService::Stub> stub_ =
      v1::CatalogService::NewStub(channel_);
  v1::PutDocumentsResponse put_;
  v1::GetDocumentsResponse got_;
  v1::DeleteDocumentsResponse deleted_;
  v1::SearchDocumentsResponse found_;
  v1::RankResponse ranked_;
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_SERVER_RPC_CATALOG_FIXTURE_H_
