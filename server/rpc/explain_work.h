// The work of one Explain: from the bytes of the request to its response.
#ifndef SEMRANK_SERVER_RPC_EXPLAIN_WORK_H_
#define SEMRANK_SERVER_RPC_EXPLAIN_WORK_H_

#include <string_view>

#include "semrank/v1/ranking_service.pb.h"
#include "server/core/explainer.h"
#include "server/rpc/request_work.h"
#include "server/rpc/rpc_environment.h"

namespace semrank {

class ExplainWork final : public RequestWork {
 public:
  // `environment` must outlive the work.
  explicit ExplainWork(const RpcEnvironment& environment)
      : environment_(environment), explainer_(environment.ranking) {}

  absl::StatusOr<WorkSize> Read(std::string_view bytes) override;
  absl::StatusOr<Progress> Advance(const RequestRun& run) override;
  const google::protobuf::MessageLite& response() const override {
    return response_;
  }

 private:
  const RpcEnvironment& environment_;
  const Explainer explainer_;
  v1::ExplainRequest message_;
  ServedModelPtr served_;
  Explainer::Request request_;
  Explanation result_;
  v1::ExplainResponse response_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_EXPLAIN_WORK_H_
