// The work of GetDocuments and of DeleteDocuments: requests that name documents
// by key. A key counts as a text.
#ifndef SEMRANK_SERVER_REQUESTS_DOCUMENT_KEYS_WORK_H_
#define SEMRANK_SERVER_REQUESTS_DOCUMENT_KEYS_WORK_H_

#include <string_view>
#include <vector>

#include "semrank/v1/catalog_service.pb.h"
#include "server/catalog/document_catalog.h"
#include "server/requests/request_work.h"
#include "server/requests/rpc_environment.h"

namespace semrank {

class GetWork final : public RequestWork {
 public:
  // `environment` must outlive the work.
  explicit GetWork(const RpcEnvironment& environment)
      : environment_(environment) {}

  const MessageTexts* texts() const override { return &kGetTexts; }
  absl::Status Read(std::string_view bytes) override;
  absl::StatusOr<Progress> Advance(const RequestRun& run) override;
  const google::protobuf::MessageLite& response() const override {
    return response_;
  }

 private:
  absl::Status CheckVectors() const;
  // Adds the documents, and their vectors to `rows`.
  void AddDocuments(std::vector<float>& rows);

  const RpcEnvironment& environment_;
  v1::GetDocumentsRequest message_;
  std::vector<DocumentKeyView> keys_;
  DocumentCatalog::Snapshot snapshot_;
  v1::GetDocumentsResponse response_;
};

class DeleteWork final : public RequestWork {
 public:
  // `environment` must outlive the work.
  explicit DeleteWork(const RpcEnvironment& environment)
      : environment_(environment) {}

  const MessageTexts* texts() const override { return &kDeleteTexts; }
  absl::Status Read(std::string_view bytes) override;
  absl::StatusOr<Progress> Advance(const RequestRun& run) override;
  const google::protobuf::MessageLite& response() const override {
    return response_;
  }
  // The store may take its time.
  WorkerPool* pool() const override { return environment_.workers; }

 private:
  const RpcEnvironment& environment_;
  v1::DeleteDocumentsRequest message_;
  std::vector<DocumentKeyView> keys_;
  v1::DeleteDocumentsResponse response_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_DOCUMENT_KEYS_WORK_H_
