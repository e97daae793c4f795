// Explain: from the bytes of the request to its response.
#ifndef SEMRANK_SERVER_REQUESTS_EXPLAIN_WORK_H_
#define SEMRANK_SERVER_REQUESTS_EXPLAIN_WORK_H_

#include <string_view>

#include "semrank/v1/ranking_service.pb.h"
#include "server/ranking/explainer.h"
#include "server/requests/message_fields.h"
#include "server/requests/request_run.h"

namespace semrank {

class ExplainWork final : public RequestWork {
 public:
  explicit ExplainWork(const ServerParts& parts)
      : parts_(parts), explainer_(parts.ranking) {}

  // Size: the query, the title and each of their words. To count the words it
  // normalises the two texts, which are within --max_text_bytes.
  absl::StatusOr<RequestSize> Read(std::string_view bytes) override;
  absl::StatusOr<Progress> Advance(const RequestRun& run) override;
  const google::protobuf::MessageLite& response() const override {
    return response_;
  }

 private:
  // The title of the document that `key` names in the catalog.
  absl::Status FindTitle(const DocumentKeyView& key);

  const ServerParts& parts_;
  const Explainer explainer_;
  // Holds the title of a document of the catalog.
  DocumentCatalog::Snapshot snapshot_;
  std::string_view title_;
  Explainer::Request request_;
  ServedModelPtr served_;
  Explanation result_;
  v1::ExplainResponse response_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_EXPLAIN_WORK_H_
