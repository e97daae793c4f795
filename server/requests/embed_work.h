// The work of one EmbedTexts: from the bytes of the request to its response.
#ifndef SEMRANK_SERVER_REQUESTS_EMBED_WORK_H_
#define SEMRANK_SERVER_REQUESTS_EMBED_WORK_H_

#include <string_view>

#include "semrank/v1/embedding_service.pb.h"
#include "server/requests/request_reader.h"
#include "server/requests/request_work.h"
#include "server/requests/rpc_environment.h"

namespace semrank {

class EmbedWork final : public RequestWork {
 public:
  // `environment` must outlive the work.
  explicit EmbedWork(const RpcEnvironment& environment)
      : environment_(environment) {}

  const MessageTexts* texts() const override { return &kEmbedTexts; }
  absl::StatusOr<WorkSize> Measure(const TextCount& count) override {
    num_texts_ = count.num_items;
    return RequestWork::Measure(count);
  }
  absl::Status Read(std::string_view bytes) override;
  absl::StatusOr<Progress> Advance(const RequestRun& run) override;
  const google::protobuf::MessageLite& response() const override {
    return response_;
  }

 private:
  const RpcEnvironment& environment_;
  std::size_t num_texts_ = 0;
  EmbedMessage message_;
  ServedModelPtr served_;
  EmbedState state_;
  EmbedResult result_;
  v1::EmbedTextsResponse response_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_EMBED_WORK_H_
