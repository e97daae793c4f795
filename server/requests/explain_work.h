// The work of one Explain: from the bytes of the request to its response.
#ifndef SEMRANK_SERVER_REQUESTS_EXPLAIN_WORK_H_
#define SEMRANK_SERVER_REQUESTS_EXPLAIN_WORK_H_

#include <string_view>

#include "semrank/v1/ranking_service.pb.h"
#include "server/ranking/explainer.h"
#include "server/requests/request_work.h"
#include "server/requests/rpc_environment.h"

namespace semrank {

class ExplainWork final : public RequestWork {
 public:
  // `environment` must outlive the work.
  explicit ExplainWork(const RpcEnvironment& environment)
      : environment_(environment), explainer_(environment.ranking) {}

  const MessageTexts* texts() const override { return &kExplainTexts; }
  absl::StatusOr<WorkSize> Measure(const TextCount& count) override;
  absl::Status Read(std::string_view bytes) override;
  absl::StatusOr<Progress> Advance(const RequestRun& run) override;
  const google::protobuf::MessageLite& response() const override {
    return response_;
  }

 private:
  // The two texts, by what was counted.
  absl::Status FindTexts(const TextCount& count);

  const RpcEnvironment& environment_;
  const Explainer explainer_;
  // Holds the title of a document of the catalog.
  DocumentCatalog::Snapshot snapshot_;
  std::string_view title_;
  absl::Status found_texts_;
  Explainer::Request request_;
  ServedModelPtr served_;
  Explanation result_;
  v1::ExplainResponse response_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_EXPLAIN_WORK_H_
