// Whether an answer can be used as it is: it comes from another machine, and
// programs index arrays with it.
#ifndef SEMRANK_CLIENT_LIB_RESPONSE_CHECK_H_
#define SEMRANK_CLIENT_LIB_RESPONSE_CHECK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "semrank/v1/embedding_service.pb.h"
#include "semrank/v1/ranking_service.pb.h"

namespace semrank {

// Internal, naming the field, when lengths disagree or an index is none of the
// request's candidates.
absl::Status CheckRankResponse(const v1::RankRequest& request,
                               const v1::RankResponse& response);

// Internal when the encoding is not the one asked for, or the bytes are not
// one vector of embedding_dim numbers a text.
absl::Status CheckEmbedTextsResponse(const v1::EmbedTextsRequest& request,
                                     const v1::EmbedTextsResponse& response);

// The same of a piece of a stream that embeds the texts of `request`, of which
// `first_text` have been answered before.
absl::Status CheckEmbedTextsPiece(const v1::EmbedTextsRequest& request,
                                  std::uint64_t first_text,
                                  const v1::EmbedTextsStreamResponse& piece);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_LIB_RESPONSE_CHECK_H_
