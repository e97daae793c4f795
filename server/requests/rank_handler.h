// How Rank and RankStream read their requests.
#ifndef SEMRANK_SERVER_REQUESTS_RANK_HANDLER_H_
#define SEMRANK_SERVER_REQUESTS_RANK_HANDLER_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "server/requests/experiments.h"
#include "server/requests/impressions.h"
#include "server/requests/message_fields.h"

namespace semrank {

// A RankRequest, read in place: views into its bytes.
struct RankMessage {
  std::vector<std::string_view> titles;
  std::vector<std::uint64_t> ids;
  std::vector<std::string_view> document_ids;
  RankInput input;  // views the above
  ModelRefView model;
  bool with_titles = false;
  ImpressionView impression;
  InterleaveView interleave;
};

// MALFORMED_MESSAGE; TOO_MANY_TEXTS for more than `max_texts` titles, ids and
// document_ids together.
absl::Status ReadRankRequest(std::string_view bytes, std::int64_t max_texts,
                             RankMessage& message);

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_RANK_HANDLER_H_
