// Rank, and one request of a RankStream: from the bytes to the response.
#ifndef SEMRANK_SERVER_REQUESTS_RANK_WORK_H_
#define SEMRANK_SERVER_REQUESTS_RANK_WORK_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "semrank/v1/ranking_service.pb.h"
#include "server/requests/message_fields.h"
#include "server/requests/request_run.h"

namespace semrank {

// A RankRequest, read in place: views into its bytes.
struct RankMessage {
  std::vector<std::string_view> titles;
  std::vector<std::uint64_t> ids;
  std::vector<std::string_view> document_ids;
  RankInput input;  // views the above
  ModelRefView model;
  bool with_titles = false;
};

// MALFORMED_MESSAGE; TOO_MANY_TEXTS for more than `max_texts` titles, ids and
// document_ids together.
absl::Status ReadRankRequest(std::string_view bytes, std::int64_t max_texts,
                             RankMessage& message);

class RankWork final : public RequestWork {
 public:
  explicit RankWork(const ServerParts& parts)
      : RankWork(parts, own_response_) {}

  // Size: the query and every candidate. How many candidates `vectors` are
  // depends on the model's dimension.
  absl::StatusOr<RequestSize> Read(std::string_view bytes) override;
  absl::StatusOr<Progress> Advance(const RequestRun& run) override;
  const google::protobuf::MessageLite& response() const override {
    return response_;
  }

 private:
  friend class StreamedRankWork;
  RankWork(const ServerParts& parts, v1::RankResponse& response)
      : parts_(parts), response_(response) {}

  // Once message_ is read.
  absl::StatusOr<RequestSize> Check(std::size_t num_bytes);
  void FillRanking();
  // Title of a candidate that was scored.
  std::string_view TitleOf(std::uint32_t candidate) const;

  const ServerParts& parts_;
  RankMessage message_;
  ServedModelPtr served_;
  RankState progress_;
  RankResult result_;
  v1::RankResponse own_response_;
  v1::RankResponse& response_;
};

// One request of a RankStream: a Rank, and the number that the response
// repeats.
class StreamedRankWork final : public RequestWork {
 public:
  // `response` gets the request's number once that is read, also when the
  // request fails.
  StreamedRankWork(const ServerParts& parts, v1::RankStreamResponse& response)
      : response_(response), rank_(parts, *response.mutable_response()) {}

  bool refused_unread() const override { return false; }
  absl::StatusOr<RequestSize> Read(std::string_view bytes) override;
  absl::StatusOr<Progress> Advance(const RequestRun& run) override {
    return rank_.Advance(run);
  }
  const google::protobuf::MessageLite& response() const override {
    return response_;
  }

 private:
  v1::RankStreamResponse& response_;
  RankWork rank_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_RANK_WORK_H_
