#include "client/lib/request_chunks.h"

#include <climits>
#include <numeric>
#include <string>
#include <vector>

#include "client/lib/client_status.h"

namespace semrank {
namespace {

// Upper bound of the tag and length around each string.
constexpr std::int64_t kBytesAround = 11;
// For the fields that every chunk repeats, apart from the query.
constexpr std::int64_t kCommonBytes = 1'024;

std::int64_t OrNone(std::uint64_t limit) {
  return limit == 0 || limit > INT_MAX ? INT_MAX
                                       : static_cast<std::int64_t>(limit);
}

// The space that is left in a chunk while it is filled.
class Room {
 public:
  Room(const MessageLimits& limits, std::int64_t common_bytes)
      : texts_(limits.max_texts), bytes_(limits.max_bytes - common_bytes) {}

  // Reserves space for one more item. The first always fits: the server then
  // explains what is wrong with it.
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

// Copies items from number `begin` on; false if the chunk is full. `begin` then
// becomes the number of the first item to copy from the next field.
// Candidates are numbered through several fields. Each call takes the size of
// its field off `begin`, so the next field starts with what is left of it.
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

MessageLimits ToMessageLimits(const v1::Limits& limits) {
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

v1::RankRequest RankChunk(const v1::RankRequest& request,
                          std::uint32_t embedding_dim, std::int64_t begin,
                          const v1::ModelRef& model,
                          const MessageLimits& limits) {
  v1::RankRequest chunk;
  chunk.set_query(request.query());
  chunk.set_top_k(request.top_k());
  if (request.has_min_score()) chunk.set_min_score(request.min_score());
  *chunk.mutable_model() = model;
  chunk.set_with_titles(request.with_titles());
  chunk.set_parts(request.parts());
  chunk.set_with_parts(request.with_parts());
  if (request.has_filter()) *chunk.mutable_filter() = request.filter();
  chunk.set_name_match(request.name_match());
  // The fields so far are repeated in each chunk and take room from it.
  Room room(limits,
            kCommonBytes + static_cast<std::int64_t>(chunk.ByteSizeLong()));
  const auto id_bytes = [](std::uint64_t) {
    return std::int64_t{sizeof(std::uint64_t)};
  };
  if (CopyItems(request.titles(), begin, StringBytes, room,
                *chunk.mutable_titles()) &&
      CopyItems(request.ids(), begin, id_bytes, room, *chunk.mutable_ids()) &&
      CopyItems(request.document_ids(), begin, StringBytes, room,
                *chunk.mutable_document_ids())) {
    CopyVectors(request.vectors(), begin, sizeof(float) * embedding_dim, room,
                *chunk.mutable_vectors());
  }
  return chunk;
}

v1::EmbedTextsRequest EmbedChunk(const v1::EmbedTextsRequest& request,
                                 int begin, const v1::ModelRef& model,
                                 const MessageLimits& limits) {
  v1::EmbedTextsRequest chunk;
  chunk.set_side(request.side());
  chunk.set_encoding(request.encoding());
  *chunk.mutable_model() = model;
  Room room(limits, kCommonBytes);
  std::int64_t first = begin;
  CopyItems(request.texts(), first, StringBytes, room, *chunk.mutable_texts());
  return chunk;
}

void AddRankChunk(std::int64_t begin, const v1::RankResponse& chunk,
                  v1::RankResponse& whole) {
  const auto offset = static_cast<std::uint32_t>(begin);
  for (const std::uint32_t index : chunk.indices()) {
    whole.add_indices(offset + index);
  }
  whole.mutable_scores()->MergeFrom(chunk.scores());
  whole.mutable_semantic_scores()->MergeFrom(chunk.semantic_scores());
  whole.mutable_lexical_scores()->MergeFrom(chunk.lexical_scores());
  whole.mutable_titles()->MergeFrom(chunk.titles());
  whole.mutable_name_matches()->MergeFrom(chunk.name_matches());
  for (const v1::Problem& problem : chunk.problems()) {
    *whole.add_problems() = problem;
    whole.mutable_problems()->rbegin()->set_index(offset + problem.index());
  }
  for (const std::uint32_t title : chunk.embedded_titles()) {
    whole.add_embedded_titles(offset + title);
  }
  *whole.mutable_model() = chunk.model();
  whole.set_score_kind(chunk.score_kind());
  AddTimings(chunk.timings(), *whole.mutable_timings());
  whole.set_cache_hits(whole.cache_hits() + chunk.cache_hits());
  whole.set_cache_misses(whole.cache_misses() + chunk.cache_misses());
  whole.set_store_hits(whole.store_hits() + chunk.store_hits());
}

// Each chunk returned its top_k best, and the best of all are among these.
void FinishRank(std::uint32_t top_k, v1::RankResponse& whole) {
  std::vector<int> order(whole.scores_size());
  std::iota(order.begin(), order.end(), 0);
  // Stable: chunks were added in order, and each keeps ties in request order.
  const bool by_name = whole.name_matches_size() > 0;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    if (by_name && whole.name_matches(a) != whole.name_matches(b)) {
      return whole.name_matches(a) > whole.name_matches(b);
    }
    return whole.scores(a) > whole.scores(b);
  });
  if (top_k > 0 && top_k < order.size()) order.resize(top_k);
  Reorder(order, *whole.mutable_indices());
  Reorder(order, *whole.mutable_scores());
  for (auto* scores :
       {whole.mutable_semantic_scores(), whole.mutable_lexical_scores()}) {
    if (!scores->empty()) Reorder(order, *scores);
  }
  if (whole.titles_size() > 0) Reorder(order, *whole.mutable_titles());
  if (by_name) Reorder(order, *whole.mutable_name_matches());
}

void AddEmbedChunk(const v1::EmbedTextsResponse& chunk,
                   v1::EmbedTextsResponse& whole) {
  whole.mutable_vectors()->append(chunk.vectors());
  whole.set_embedding_dim(chunk.embedding_dim());
  whole.mutable_scales()->MergeFrom(chunk.scales());
  whole.set_encoding(chunk.encoding());
  *whole.mutable_model() = chunk.model();
  AddTimings(chunk.timings(), *whole.mutable_timings());
  whole.set_cache_hits(whole.cache_hits() + chunk.cache_hits());
  whole.set_cache_misses(whole.cache_misses() + chunk.cache_misses());
}

void AddTimings(const v1::Timings& timings, v1::Timings& sum) {
  sum.set_queue_nanos(sum.queue_nanos() + timings.queue_nanos());
  sum.set_parse_nanos(sum.parse_nanos() + timings.parse_nanos());
  sum.set_cache_nanos(sum.cache_nanos() + timings.cache_nanos());
  sum.set_embed_nanos(sum.embed_nanos() + timings.embed_nanos());
  sum.set_score_nanos(sum.score_nanos() + timings.score_nanos());
  sum.set_total_nanos(sum.total_nanos() + timings.total_nanos());
}

absl::Status SendChunks(std::int64_t num_items, const v1::ModelRef& model,
                        int max_attempts, const std::function<void()>& restart,
                        const std::function<absl::StatusOr<ChunkResult>(
                            std::int64_t, const v1::ModelRef&)>& send) {
  for (int attempt = 1;; ++attempt) {
    restart();
    v1::ModelRef answering = model;
    std::int64_t begin = 0;
    absl::Status status;
    do {
      const absl::StatusOr<ChunkResult> chunk = send(begin, answering);
      status = chunk.status();
      if (!status.ok()) break;
      begin += chunk->num_items;
      answering = chunk->model;
    } while (begin < num_items);
    // The first chunk chose the current version and the others named it. If it
    // was unloaded since, the scores so far are of a model that is gone.
    const bool version_unloaded = begin > 0 && model.version() == 0 &&
                                  HasReason(status, "MODEL_NOT_FOUND");
    if (!version_unloaded || attempt >= max_attempts) return status;
  }
}

}  // namespace semrank
