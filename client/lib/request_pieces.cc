#include "client/lib/request_pieces.h"

#include <algorithm>
#include <climits>
#include <numeric>
#include <string>
#include <vector>

#include "client/lib/client_status.h"

namespace semrank {
namespace {

// Field number and length around each string, at the most.
constexpr std::int64_t kBytesAround = 11;
// For fields that every piece repeats, beside the query.
constexpr std::int64_t kCommonBytes = 1'024;

std::int64_t OrNone(std::uint64_t limit) {
  return limit == 0 || limit > INT_MAX ? INT_MAX
                                       : static_cast<std::int64_t>(limit);
}

// Counts what a piece holds while it is filled.
class Room {
 public:
  Room(const PieceLimits& limits, std::int64_t common_bytes)
      : texts_(limits.max_texts), bytes_(limits.max_bytes - common_bytes) {}

  // Whether one more fits; the first always does.
  bool Take(std::int64_t num_bytes) {
    const bool fits = texts_ > 0 && num_bytes <= bytes_;
    if (!fits && taken_) return false;
    --texts_;
    bytes_ -= num_bytes;
    return taken_ = true;
  }

 private:
  std::int64_t texts_, bytes_;
  bool taken_ = false;
};

// Copies from number `begin` of `from` on; false = the piece is full. `begin`
// then counts from the end of `from`: below 0 = nothing is left to skip.
template <typename Items, typename Bytes>
bool CopyItems(const Items& from, std::int64_t& begin, Bytes bytes, Room& room,
               Items& to) {
  for (std::int64_t i = begin; i < from.size(); ++i) {
    const auto& item = from.Get(static_cast<int>(i));
    if (!room.Take(bytes(item))) return false;
    *to.Add() = item;
  }
  begin = std::max<std::int64_t>(begin - from.size(), 0);
  return true;
}

void CopyVectors(const std::string& from, std::int64_t begin,
                 std::int64_t row_bytes, Room& room, std::string& to) {
  if (row_bytes == 0) return;
  const std::int64_t num_rows =
      static_cast<std::int64_t>(from.size()) / row_bytes;
  std::int64_t end = begin;
  while (end < num_rows && room.Take(row_bytes)) ++end;
  to.assign(from, begin * row_bytes, (end - begin) * row_bytes);
}

std::int64_t StringBytes(const std::string& text) {
  return static_cast<std::int64_t>(text.size()) + kBytesAround;
}

template <typename Field>
void Reorder(const std::vector<int>& order, Field& field) {
  Field sorted;
  sorted.Reserve(static_cast<int>(order.size()));
  for (const int i : order) *sorted.Add() = field.Get(i);
  field.Swap(&sorted);
}

}  // namespace

PieceLimits ToPieceLimits(const v1::Limits& limits) {
  return {.max_texts = OrNone(limits.max_texts_per_request()),
          .max_bytes = OrNone(limits.max_request_bytes())};
}

std::int64_t NumCandidates(const v1::RankRequest& request,
                           std::uint32_t embedding_dim) {
  const std::uint64_t num_vectors =
      embedding_dim == 0
          ? 0
          : request.vectors().size() / (sizeof(float) * embedding_dim);
  return std::int64_t{request.titles_size()} + request.ids_size() +
         request.document_ids_size() + static_cast<std::int64_t>(num_vectors);
}

v1::RankRequest RankPiece(const v1::RankRequest& request,
                          std::uint32_t embedding_dim, std::int64_t begin,
                          const v1::ModelRef& model,
                          const PieceLimits& limits) {
  v1::RankRequest piece;
  piece.set_query(request.query());
  piece.set_top_k(request.top_k());
  if (request.has_min_score()) piece.set_min_score(request.min_score());
  *piece.mutable_model() = model;
  piece.set_with_titles(request.with_titles());
  Room room(limits, kCommonBytes + StringBytes(request.query()));
  const auto id_bytes = [](std::uint64_t) {
    return std::int64_t{sizeof(std::uint64_t)};
  };
  if (CopyItems(request.titles(), begin, StringBytes, room,
                *piece.mutable_titles()) &&
      CopyItems(request.ids(), begin, id_bytes, room, *piece.mutable_ids()) &&
      CopyItems(request.document_ids(), begin, StringBytes, room,
                *piece.mutable_document_ids())) {
    CopyVectors(request.vectors(), begin, sizeof(float) * embedding_dim, room,
                *piece.mutable_vectors());
  }
  return piece;
}

v1::EmbedTextsRequest EmbedPiece(const v1::EmbedTextsRequest& request,
                                 int begin, const v1::ModelRef& model,
                                 const PieceLimits& limits) {
  v1::EmbedTextsRequest piece;
  piece.set_side(request.side());
  piece.set_encoding(request.encoding());
  *piece.mutable_model() = model;
  Room room(limits, kCommonBytes);
  std::int64_t first = begin;
  CopyItems(request.texts(), first, StringBytes, room, *piece.mutable_texts());
  return piece;
}

void AddRankPiece(std::int64_t begin, const v1::RankResponse& piece,
                  v1::RankResponse& whole) {
  const auto offset = static_cast<std::uint32_t>(begin);
  for (const std::uint32_t index : piece.indices()) {
    whole.add_indices(offset + index);
  }
  whole.mutable_scores()->MergeFrom(piece.scores());
  whole.mutable_titles()->MergeFrom(piece.titles());
  for (const v1::Problem& problem : piece.problems()) {
    *whole.add_problems() = problem;
    whole.mutable_problems()->rbegin()->set_index(offset + problem.index());
  }
  *whole.mutable_model() = piece.model();
  whole.set_score_kind(piece.score_kind());
  AddTimings(piece.timings(), *whole.mutable_timings());
  whole.set_cache_hits(whole.cache_hits() + piece.cache_hits());
  whole.set_cache_misses(whole.cache_misses() + piece.cache_misses());
  whole.set_store_hits(whole.store_hits() + piece.store_hits());
}

void FinishRank(std::uint32_t top_k, v1::RankResponse& whole) {
  std::vector<int> order(whole.scores_size());
  std::iota(order.begin(), order.end(), 0);
  // Stable: pieces came in order, and each has its ties in order.
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return whole.scores(a) > whole.scores(b);
  });
  if (top_k > 0 && top_k < order.size()) order.resize(top_k);
  Reorder(order, *whole.mutable_indices());
  Reorder(order, *whole.mutable_scores());
  if (whole.titles_size() > 0) Reorder(order, *whole.mutable_titles());
}

void AddEmbedPiece(const v1::EmbedTextsResponse& piece,
                   v1::EmbedTextsResponse& whole) {
  whole.mutable_vectors()->append(piece.vectors());
  whole.set_embedding_dim(piece.embedding_dim());
  whole.mutable_scales()->MergeFrom(piece.scales());
  whole.set_encoding(piece.encoding());
  *whole.mutable_model() = piece.model();
  AddTimings(piece.timings(), *whole.mutable_timings());
  whole.set_cache_hits(whole.cache_hits() + piece.cache_hits());
  whole.set_cache_misses(whole.cache_misses() + piece.cache_misses());
}

void AddTimings(const v1::Timings& timings, v1::Timings& sum) {
  sum.set_queue_nanos(sum.queue_nanos() + timings.queue_nanos());
  sum.set_parse_nanos(sum.parse_nanos() + timings.parse_nanos());
  sum.set_cache_nanos(sum.cache_nanos() + timings.cache_nanos());
  sum.set_embed_nanos(sum.embed_nanos() + timings.embed_nanos());
  sum.set_score_nanos(sum.score_nanos() + timings.score_nanos());
  sum.set_total_nanos(sum.total_nanos() + timings.total_nanos());
}

absl::Status SendPieces(std::int64_t num_items, const v1::ModelRef& model,
                        int max_attempts, const std::function<void()>& restart,
                        const std::function<absl::StatusOr<PieceAnswer>(
                            std::int64_t, const v1::ModelRef&)>& send) {
  for (int attempt = 1;; ++attempt) {
    restart();
    v1::ModelRef answering = model;
    std::int64_t begin = 0;
    absl::Status status;
    do {
      const absl::StatusOr<PieceAnswer> piece = send(begin, answering);
      status = piece.status();
      if (!status.ok()) break;
      begin += piece->num_items;
      answering = piece->model;
    } while (begin < num_items);
    const bool version_left = begin > 0 && model.version() == 0 &&
                              HasReason(status, "MODEL_NOT_FOUND");
    if (!version_left || attempt >= max_attempts) return status;
  }
}

}  // namespace semrank
