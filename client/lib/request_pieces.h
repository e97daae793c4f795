// Cuts a request that is larger than the server takes into pieces that it
// does take, and puts their answers together as if it had been one call. No
// network: semrank_client.h sends the pieces.
#ifndef SEMRANK_CLIENT_LIB_REQUEST_PIECES_H_
#define SEMRANK_CLIENT_LIB_REQUEST_PIECES_H_

#include <algorithm>
#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "semrank/v1/embedding_service.pb.h"
#include "semrank/v1/model_service.pb.h"
#include "semrank/v1/ranking_service.pb.h"

namespace semrank {

// Of one message.
struct PieceLimits {
  std::int64_t max_texts = 0;
  std::int64_t max_bytes = 0;
  bool operator==(const PieceLimits&) const = default;
};

// 0 in `limits`, which is none, becomes the largest value a message can have.
PieceLimits ToPieceLimits(const v1::Limits& limits);

// Of a message of a stream: answers come early, and each turn of the server is
// short.
inline constexpr std::int64_t kMaxStreamedTexts = 1'000;
inline constexpr std::int64_t kMaxStreamedBytes = std::int64_t{1} << 20;
inline PieceLimits StreamLimits(const PieceLimits& limits) {
  return {.max_texts = std::min(limits.max_texts, kMaxStreamedTexts),
          .max_bytes = std::min(limits.max_bytes, kMaxStreamedBytes)};
}

// Titles, ids and vectors of the request. `embedding_dim` matters only where
// there are vectors; rows that are not whole are not counted.
std::int64_t NumCandidates(const v1::RankRequest& request,
                           std::uint32_t embedding_dim);

// The same request with the candidates from number `begin` on that fit, at
// least one; titles before ids before names before vectors, as they are
// numbered. `model` scores.
v1::RankRequest RankPiece(const v1::RankRequest& request,
                          std::uint32_t embedding_dim, std::int64_t begin,
                          const v1::ModelRef& model, const PieceLimits& limits);
// Likewise with the texts from number `begin` on.
v1::EmbedTextsRequest EmbedPiece(const v1::EmbedTextsRequest& request,
                                 int begin, const v1::ModelRef& model,
                                 const PieceLimits& limits);

// Adds the answer to the piece that began at `begin`, in order of the pieces.
void AddRankPiece(std::int64_t begin, const v1::RankResponse& piece,
                  v1::RankResponse& whole);
// Orders what was added: best first, equal scores as in the request, top_k.
void FinishRank(std::uint32_t top_k, v1::RankResponse& whole);
void AddEmbedPiece(const v1::EmbedTextsResponse& piece,
                   v1::EmbedTextsResponse& whole);
void AddTimings(const v1::Timings& timings, v1::Timings& sum);

// What came of a piece: how many candidates or texts it had, and who answered.
struct PieceAnswer {
  std::int64_t num_items = 0;
  v1::ModelRef model = {};
};

// Sends pieces, at least one, until all items are answered. The first goes to
// `model`, the others to the version that answered it. If `model` names no
// version and that one leaves meanwhile, everything is asked again, at most
// max_attempts times.
//   restart  begins an empty answer
//   send     sends the piece from `begin` on and adds its answer
absl::Status SendPieces(
    std::int64_t num_items, const v1::ModelRef& model, int max_attempts,
    const std::function<void()>& restart,
    const std::function<absl::StatusOr<PieceAnswer>(
        std::int64_t begin, const v1::ModelRef& model)>& send);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_LIB_REQUEST_PIECES_H_
