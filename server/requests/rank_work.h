// The work of one Rank: from the bytes of a RankRequest to its response.
#ifndef SEMRANK_SERVER_REQUESTS_RANK_WORK_H_
#define SEMRANK_SERVER_REQUESTS_RANK_WORK_H_

#include <memory>
#include <string_view>

#include "semrank/v1/ranking_service.pb.h"
#include "server/requests/request_reader.h"
#include "server/requests/request_work.h"
#include "server/requests/rpc_environment.h"

namespace semrank {

class RankWork final : public RequestWork {
 public:
  // The response goes into `response`, which is part of a larger message;
  // without it into one of the work's own. `environment` must outlive the work.
  explicit RankWork(const RpcEnvironment& environment,
                    v1::RankResponse* response = nullptr)
      : environment_(environment),
        response_(response != nullptr ? *response : own_response_) {}

  const MessageTexts* texts() const override { return &kRankTexts; }
  absl::StatusOr<WorkSize> Measure(const TextCount& count) override;
  absl::Status Read(std::string_view bytes) override;
  absl::StatusOr<Progress> Advance(const RequestRun& run) override;
  const google::protobuf::MessageLite& response() const override {
    return response_;
  }

 private:
  std::int64_t CountVectors(const TextCount& count) const;
  void FillRanking();
  // Of a candidate that was scored.
  std::string_view TitleOf(std::uint32_t candidate) const;

  const RpcEnvironment& environment_;
  RankMessage message_;
  std::size_t num_listed_ = 0;  // titles and documents of the catalog
  absl::Status found_;          // the model
  ServedModelPtr served_;
  RankState state_;
  RankResult result_;
  v1::RankResponse own_response_;
  v1::RankResponse& response_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_RANK_WORK_H_
