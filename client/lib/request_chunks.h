// Splits what exceeds a message into chunks, and merges the responses to the
// chunks of a Rank as if it had been one call. Without network access:
// semrank_client.h sends the chunks.
#ifndef SEMRANK_CLIENT_LIB_REQUEST_CHUNKS_H_
#define SEMRANK_CLIENT_LIB_REQUEST_CHUNKS_H_

#include <algorithm>
#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "semrank/v1/model_service.pb.h"
#include "semrank/v1/ranking_service.pb.h"

namespace semrank {

// Limits on one message, or the size of one.
struct MessageLimits {
  std::int64_t max_texts = 0;
  std::int64_t max_bytes = 0;

  bool Contains(const MessageLimits& size) const {
    return size.max_texts <= max_texts && size.max_bytes <= max_bytes;
  }
};

// Limits that a client assumes until a request exceeds them, so that a client
// of small requests never calls GetLimits. They also bound a message of a
// stream: small messages bring the first responses early and keep the tasks of
// the server short.
inline constexpr MessageLimits kAssumedLimits = {
    .max_texts = 1'000, .max_bytes = std::int64_t{1} << 20};

// 0 in `limits` means no limit; it becomes the largest value that a message can
// have.
MessageLimits ToMessageLimits(const v1::Limits& limits);

inline MessageLimits StreamLimits(const MessageLimits& limits) {
  return {.max_texts = std::min(limits.max_texts, kAssumedLimits.max_texts),
          .max_bytes = std::min(limits.max_bytes, kAssumedLimits.max_bytes)};
}

// Returns make(begin, end), a message with the items from `begin` to `end` - 1.
// `end` is as large as max_texts allows, and halved until the message has at
// most max_bytes. A single item is never left out: the server then explains
// what is wrong with it.
template <typename Make>
auto MakeChunk(std::int64_t begin, std::int64_t num_items,
               const MessageLimits& limits, Make make) {
  std::int64_t end = std::min(num_items, begin + limits.max_texts);
  auto message = make(begin, end);
  while (end - begin > 1 &&
         static_cast<std::int64_t>(message.ByteSizeLong()) > limits.max_bytes) {
    end = begin + (end - begin) / 2;
    message = make(begin, end);
  }
  return message;
}

// Adds items of one field, of those that are numbered through several fields.
// `begin` and `end` then count from the first item of the next field.
template <typename Items>
void AddItems(const Items& from, std::int64_t& begin, std::int64_t& end,
              Items& to) {
  const std::int64_t size = from.size();
  to.Add(from.begin() + std::clamp<std::int64_t>(begin, 0, size),
         from.begin() + std::clamp<std::int64_t>(end, 0, size));
  begin -= size;
  end -= size;
}

// Number of candidates: titles, ids, document ids and vectors. `embedding_dim`
// matters only if there are vectors; a trailing partial vector is not counted.
std::int64_t NumCandidates(const v1::RankRequest& request,
                           std::uint32_t embedding_dim);

// The fields that every chunk of the request repeats: all but the candidates.
v1::RankRequest WithoutCandidates(const v1::RankRequest& request);

// Adds the candidates of `request` from `begin` to `end` - 1. They are numbered
// titles first, then ids, document ids and vectors.
void AddCandidates(const v1::RankRequest& request, std::uint32_t embedding_dim,
                   std::int64_t begin, std::int64_t end,
                   v1::RankRequest& chunk);

// Adds the response to the chunk that starts at candidate `begin`. Chunks must
// be added in order.
void AddRankChunk(std::int64_t begin, v1::RankResponse chunk,
                  v1::RankResponse& whole);
// Sorts the merged ranking as the server does: candidates that the query names
// first, then by score, ties in request order. Keeps the best top_k (0 = all).
void FinishRank(std::uint32_t top_k, v1::RankResponse& whole);

void AddTimings(const v1::Timings& timings, v1::Timings& sum);

// Calls `send`, which sends the chunks of one call: the first to `answering`, a
// copy of `model`, and the others to the version that answered, which it leaves
// there. If `model` names no version and that one is unloaded in between,
// `send` starts over, at most max_attempts times.
absl::Status SendToOneVersion(
    const v1::ModelRef& model, int max_attempts,
    const std::function<absl::Status(v1::ModelRef& answering)>& send);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_LIB_REQUEST_CHUNKS_H_
