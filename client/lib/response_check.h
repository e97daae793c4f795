// Checks responses, because callers index arrays with numbers that come from
// another machine.
#ifndef SEMRANK_CLIENT_LIB_RESPONSE_CHECK_H_
#define SEMRANK_CLIENT_LIB_RESPONSE_CHECK_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "semrank/v1/catalog_service.pb.h"
#include "semrank/v1/embedding_service.pb.h"
#include "semrank/v1/ranking_service.pb.h"

namespace semrank {

// Internal "invalid response from the server: WHAT".
absl::Status InvalidResponse(std::string_view what);

// Internal, naming the field, if lengths disagree or an index is not one of the
// request's candidates.
absl::Status CheckRankResponse(const v1::RankRequest& request,
                               const v1::RankResponse& response);

// Internal if the encoding is not the requested one, or the bytes are not one
// vector of embedding_dim elements per text.
absl::Status CheckEmbedTextsResponse(const v1::EmbedTextsRequest& request,
                                     const v1::EmbedTextsResponse& response);

// The same for one response of a stream that embeds the texts of `request`.
// `first_text` is the number of texts that had their vectors before.
absl::Status CheckEmbedTextsChunk(const v1::EmbedTextsRequest& request,
                                  std::uint64_t first_text,
                                  const v1::EmbedTextsStreamResponse& chunk);

// Internal if a problem names none of the `num_keys` keys of a request.
absl::Status CheckKeyProblems(
    const google::protobuf::RepeatedPtrField<v1::Problem>& problems,
    std::uint64_t num_keys);

// Internal if a key has neither a document nor a problem, or, with vectors, the
// bytes are not one vector in the requested encoding for each document.
absl::Status CheckGetDocumentsResponse(
    const v1::GetDocumentsRequest& request,
    const v1::GetDocumentsResponse& response);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_LIB_RESPONSE_CHECK_H_
