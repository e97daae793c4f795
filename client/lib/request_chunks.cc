#include "client/lib/request_chunks.h"

#include <algorithm>
#include <climits>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "client/lib/client_status.h"

namespace semrank {
namespace {

std::int64_t OrNone(std::uint64_t limit) {
  return limit == 0 || limit > INT_MAX ? INT_MAX
                                       : static_cast<std::int64_t>(limit);
}

// Parallel fields are empty if they were not requested.
template <typename Field>
void Reorder(const std::vector<int>& order, Field& field) {
  if (field.empty()) return;
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

// By a copy, so that a field that is added to the API is in every chunk.
v1::RankRequest WithoutCandidates(const v1::RankRequest& request) {
  v1::RankRequest common = request;
  common.clear_titles();
  common.clear_ids();
  common.clear_document_ids();
  common.clear_vectors();
  return common;
}

void AddCandidates(const v1::RankRequest& request, std::uint32_t embedding_dim,
                   std::int64_t begin, std::int64_t end,
                   v1::RankRequest& chunk) {
  AddItems(request.titles(), begin, end, *chunk.mutable_titles());
  AddItems(request.ids(), begin, end, *chunk.mutable_ids());
  AddItems(request.document_ids(), begin, end, *chunk.mutable_document_ids());
  const std::size_t row_bytes = sizeof(float) * embedding_dim;
  begin = std::max<std::int64_t>(begin, 0);
  if (end <= begin) return;
  chunk.set_vectors(
      request.vectors().substr(begin * row_bytes, (end - begin) * row_bytes));
}

// MergeFrom appends what is repeated and replaces all else, so only numbers of
// candidates and sums are set here.
void AddRankChunk(std::int64_t begin, v1::RankResponse chunk,
                  v1::RankResponse& whole) {
  const auto offset = static_cast<std::uint32_t>(begin);
  for (std::uint32_t& index : *chunk.mutable_indices()) index += offset;
  for (std::uint32_t& title : *chunk.mutable_embedded_titles()) title += offset;
  for (v1::Problem& problem : *chunk.mutable_problems()) {
    problem.set_index(offset + problem.index());
  }
  AddTimings(whole.timings(), *chunk.mutable_timings());
  chunk.set_cache_hits(whole.cache_hits() + chunk.cache_hits());
  chunk.set_cache_misses(whole.cache_misses() + chunk.cache_misses());
  chunk.set_store_hits(whole.store_hits() + chunk.store_hits());
  whole.MergeFrom(chunk);
}

// Each chunk returned its top_k best, and the best of all are among these.
void FinishRank(std::uint32_t top_k, v1::RankResponse& whole) {
  std::vector<int> order(whole.scores_size());
  std::iota(order.begin(), order.end(), 0);
  // Stable: chunks were added in order, and each keeps ties in request order.
  const bool by_name = whole.name_matches_size() > 0;
  std::ranges::stable_sort(order, std::greater<>(), [&](int i) {
    return std::pair(by_name ? int{whole.name_matches(i)} : 0, whole.scores(i));
  });
  if (top_k > 0 && top_k < order.size()) order.resize(top_k);
  Reorder(order, *whole.mutable_indices());
  Reorder(order, *whole.mutable_scores());
  Reorder(order, *whole.mutable_semantic_scores());
  Reorder(order, *whole.mutable_lexical_scores());
  Reorder(order, *whole.mutable_titles());
  Reorder(order, *whole.mutable_name_matches());
  std::vector<std::uint32_t> returned(whole.indices().begin(),
                                      whole.indices().end());
  std::ranges::sort(returned);
  auto& embedded = *whole.mutable_embedded_titles();
  embedded.erase(std::remove_if(embedded.begin(), embedded.end(),
                                [&](std::uint32_t title) {
                                  return !std::ranges::binary_search(returned,
                                                                     title);
                                }),
                 embedded.end());
}

void AddTimings(const v1::Timings& timings, v1::Timings& sum) {
  sum.set_queue_nanos(sum.queue_nanos() + timings.queue_nanos());
  sum.set_parse_nanos(sum.parse_nanos() + timings.parse_nanos());
  sum.set_cache_nanos(sum.cache_nanos() + timings.cache_nanos());
  sum.set_embed_nanos(sum.embed_nanos() + timings.embed_nanos());
  sum.set_score_nanos(sum.score_nanos() + timings.score_nanos());
  sum.set_total_nanos(sum.total_nanos() + timings.total_nanos());
}

absl::Status SendToOneVersion(
    const v1::ModelRef& model, int max_attempts,
    const std::function<absl::Status(v1::ModelRef&)>& send) {
  for (int attempt = 1;; ++attempt) {
    v1::ModelRef answering = model;
    absl::Status status = send(answering);
    // The first chunk chose the current version and the others named it. If it
    // was unloaded since, the scores so far are of a model that is gone.
    const bool version_unloaded = model.version() == 0 &&
                                  answering.version() != 0 &&
                                  HasReason(status, "MODEL_NOT_FOUND");
    if (!version_unloaded || attempt >= max_attempts) return status;
  }
}

}  // namespace semrank
