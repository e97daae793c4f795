// Rank, and one request of a RankStream: from the bytes to the response.
#ifndef SEMRANK_SERVER_REQUESTS_RANK_WORK_H_
#define SEMRANK_SERVER_REQUESTS_RANK_WORK_H_

#include <cstdint>
#include <memory>
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

// Its size is the query and every candidate. How many candidates `vectors` are
// depends on the model's dimension.
std::unique_ptr<RequestWork> MakeRankWork(const ServerParts& parts);

// One request of a RankStream: a Rank, and the number that the response
// repeats. `response` gets the number once that is read, also when the request
// fails.
std::unique_ptr<RequestWork> MakeStreamedRankWork(
    const ServerParts& parts, v1::RankStreamResponse& response);

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_RANK_WORK_H_
