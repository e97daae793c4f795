// Splits a request that exceeds the server's limits into chunks, and merges
// their responses as if it had been one call. Without network access:
// semrank_client.h sends the chunks.
//
//   Threads  free functions, from any thread.
#ifndef SEMRANK_CLIENT_LIB_REQUEST_CHUNKS_H_
#define SEMRANK_CLIENT_LIB_REQUEST_CHUNKS_H_

#include <algorithm>
#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "semrank/v1/embedding_service.pb.h"
#include "semrank/v1/model_service.pb.h"
#include "semrank/v1/ranking_service.pb.h"

namespace semrank {

// Limits on one message.
struct MessageLimits {
  std::int64_t max_texts = 0;
  std::int64_t max_bytes = 0;
  bool operator==(const MessageLimits&) const = default;
};

// 0 in `limits` means no limit; it becomes the largest value that a message can
// have.
MessageLimits ToMessageLimits(const v1::Limits& limits);

// Limits on a message of a stream. Small messages bring the first responses
// early and keep the tasks of the server short.
inline constexpr std::int64_t kMaxStreamedTexts = 1'000;
inline constexpr std::int64_t kMaxStreamedBytes = std::int64_t{1} << 20;
inline MessageLimits StreamLimits(const MessageLimits& limits) {
  return {.max_texts = std::min(limits.max_texts, kMaxStreamedTexts),
          .max_bytes = std::min(limits.max_bytes, kMaxStreamedBytes)};
}

// Number of candidates: titles, ids, document ids and vectors. `embedding_dim`
// matters only if there are vectors; a trailing partial vector is not counted.
std::int64_t NumCandidates(const v1::RankRequest& request,
                           std::uint32_t embedding_dim);

// The request with as many candidates from number `begin` on as fit, at least
// one, to be scored by `model`. Candidates are numbered titles first, then ids,
// document ids and vectors.
v1::RankRequest RankChunk(const v1::RankRequest& request,
                          std::uint32_t embedding_dim, std::int64_t begin,
                          const v1::ModelRef& model,
                          const MessageLimits& limits);
// Likewise with texts.
v1::EmbedTextsRequest EmbedChunk(const v1::EmbedTextsRequest& request,
                                 int begin, const v1::ModelRef& model,
                                 const MessageLimits& limits);

// Adds the response to the chunk that starts at candidate `begin`. Chunks must
// be added in order.
void AddRankChunk(std::int64_t begin, const v1::RankResponse& chunk,
                  v1::RankResponse& whole);
// Sorts the merged ranking as the server does: candidates that the query names
// first, then by score, ties in request order. Keeps the best top_k (0 = all).
void FinishRank(std::uint32_t top_k, v1::RankResponse& whole);
void AddEmbedChunk(const v1::EmbedTextsResponse& chunk,
                   v1::EmbedTextsResponse& whole);
void AddTimings(const v1::Timings& timings, v1::Timings& sum);

struct ChunkResult {
  std::int64_t num_items = 0;  // candidates or texts in the chunk
  v1::ModelRef model = {};     // the version that answered
};

// Sends chunks, at least one, until all items have responses. The first goes to
// `model`, the others to the version that answered it. If `model` names no
// version and that version is unloaded in between, starts over, at most
// max_attempts times.
//   restart  begins an empty response
//   send     sends the chunk that starts at `begin` and adds its response
absl::Status SendChunks(
    std::int64_t num_items, const v1::ModelRef& model, int max_attempts,
    const std::function<void()>& restart,
    const std::function<absl::StatusOr<ChunkResult>(
        std::int64_t begin, const v1::ModelRef& model)>& send);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_LIB_REQUEST_CHUNKS_H_
