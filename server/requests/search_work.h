// The work of one SearchDocuments: from the bytes of the request to its
// response.
#ifndef SEMRANK_SERVER_REQUESTS_SEARCH_WORK_H_
#define SEMRANK_SERVER_REQUESTS_SEARCH_WORK_H_

#include <string_view>
#include <vector>

#include "semrank/v1/catalog_service.pb.h"
#include "server/catalog/catalog_searcher.h"
#include "server/requests/request_work.h"
#include "server/requests/rpc_environment.h"

namespace semrank {

class SearchWork final : public RequestWork {
 public:
  // `environment` must outlive the work.
  explicit SearchWork(const RpcEnvironment& environment)
      : environment_(environment) {}

  const MessageTexts* texts() const override { return &kSearchTexts; }
  absl::StatusOr<WorkSize> Measure(const TextCount& count) override;
  absl::Status Read(std::string_view bytes) override;
  absl::StatusOr<Progress> Advance(const RequestRun& run) override;
  const google::protobuf::MessageLite& response() const override {
    return response_;
  }

 private:
  void AddHits();

  const RpcEnvironment& environment_;
  v1::SearchDocumentsRequest message_;
  std::vector<DocumentKeyView> excluded_;
  SearchInput input_;
  SearchResult result_;
  SearchState state_;
  v1::SearchDocumentsResponse response_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_SEARCH_WORK_H_
