#include "server/ranking/ranking_engine.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "server/base/errors.h"
#include "server/ranking/candidate_scorer.h"

namespace semrank {
namespace {

absl::StatusOr<std::size_t> CountVectors(const TwoTowerModel& model,
                                         const RankInput& input) {
  const std::string_view bytes = input.vectors;
  if (bytes.empty()) return 0;
  const PartsWanted scored = input.scored_parts();
  if (model.lexical() != nullptr &&
      (scored.parts == ModelParts::kLexical || scored.with_parts)) {
    return FieldError(
        "INVALID_FIELD", "vectors",
        absl::StrFormat("have no lexical part, but the request asks for that "
                        "of %s; send titles, or set neither parts nor "
                        "with_parts",
                        model.version().name));
  }
  if (model.sparse_scorer() != nullptr) {
    return FieldError("INVALID_FIELD", "vectors",
                      "are only a part of this model's score, which needs the "
                      "words of the titles too; send titles");
  }
  // At least 1: only models with a sparse scorer have no vectors.
  const int dim = model.embedding_dim();
  const std::size_t row_bytes = dim * sizeof(float);
  if (bytes.size() % row_bytes != 0) {
    return FieldError(
        "BAD_VECTOR", "vectors",
        absl::StrFormat(
            "%d bytes are not a whole number of vectors of %d float32",
            bytes.size(), dim),
        {{"value", std::to_string(bytes.size())},
         {"embedding_dim", std::to_string(dim)}});
  }
  return bytes.size() / row_bytes;
}

// Sets values[i] to all[ranking[i].index], where `index` still is a place in
// the list of scored candidates. An empty list stays empty.
template <typename Value>
void SelectOf(const std::vector<Value>& all,
              const std::vector<RankedDocument>& ranking,
              std::vector<Value>& values) {
  values.clear();
  if (all.empty()) return;
  for (const RankedDocument& document : ranking) {
    values.push_back(all[document.index]);
  }
}

// Moves the named candidates of a complete ranking to its front, then cuts it.
void MoveNamedToFront(const std::vector<NameMatch>& names, std::uint32_t top_k,
                      std::vector<RankedDocument>& ranking) {
  // Stable, so candidates that are named equally well stay ordered by score.
  std::ranges::stable_sort(
      ranking, std::greater<>(),
      [&](const RankedDocument& document) { return names[document.index]; });
  if (top_k != 0 && top_k < ranking.size()) ranking.resize(top_k);
}

void Select(const RankInput& input, const ScoredCandidates& scored,
            RankResult& result) {
  std::vector<RankedDocument>& ranking = result.ranking;
  // With names all candidates are ranked, since a named one with a low score
  // comes first and must not be cut.
  const bool by_name = scored.name.has_value();
  // Until the end of this function, `index` of a ranked document is its place
  // in `scored`, which the selections need.
  RankScores(scored.scores, by_name ? 0 : input.top_k, ranking);
  // After top_k this leaves the same as before it.
  if (input.min_score.has_value()) {
    std::erase_if(ranking, [&](const RankedDocument& document) {
      return document.score < *input.min_score;
    });
  }
  if (by_name) MoveNamedToFront(scored.names, input.top_k, ranking);
  SelectOf(scored.names, ranking, result.names);
  SelectOf(scored.parts.semantic, ranking, result.parts.semantic);
  SelectOf(scored.parts.lexical, ranking, result.parts.lexical);
  // Last, since the selections above use the places.
  for (RankedDocument& document : ranking) {
    document.index = scored.candidates[document.index];
  }
}

void CountQuality(const ServedModel& served, const RankResult& result) {
  if (served.quality == nullptr) return;
  std::optional<float> top_score;
  if (!result.ranking.empty()) top_score = result.ranking[0].score;
  served.quality->CountAnswer(
      result.query_known, top_score,
      !result.names.empty() && result.names[0] != NameMatch::kNone);
}

// The state of requests that need one slice only, so that they allocate
// nothing.
RankState& ThreadState() {
  thread_local RankState state;
  return state;
}

}  // namespace

absl::Status RankingEngine::Check(const ServedModel& served,
                                  const RankInput& input) const {
  SEMRANK_RETURN_IF_ERROR(CheckQuery(input.query, limits_));
  SEMRANK_RETURN_IF_ERROR(CheckParts(*served.model, input.wanted.parts));
  SEMRANK_ASSIGN_OR_RETURN(const std::size_t num_vectors,
                           CountVectors(*served.model, input));
  const std::size_t num_candidates = input.num_named() + num_vectors;
  if (num_candidates == 0) {
    return FieldError("NO_CANDIDATES", "titles",
                      "the request has no candidate");
  }
  // The reader of the request has counted titles and ids, but only the model
  // gives the number of vectors.
  if (num_candidates >
      static_cast<std::size_t>(limits_.max_texts_per_request)) {
    return TooManyTexts("titles", num_candidates,
                        limits_.max_texts_per_request);
  }
  // Comparisons with NaN are false, so it would silently filter nothing.
  if (input.min_score.has_value() && std::isnan(*input.min_score)) {
    return FieldError("INVALID_FIELD", "min_score", "is NaN");
  }
  return input.filter.Check();
}

// One slice scores some of the candidates, in the order of their numbers. The
// first slice also embeds the query; the last one scores the vectors and
// selects.
absl::StatusOr<Progress> RankingEngine::RunSlice(const ServedModel& served,
                                                 const RankInput& input,
                                                 const Caller& caller,
                                                 RankState& own_state,
                                                 RankResult& result) const {
  // Failed requests too: a slow stage is often why they failed.
  absl::Cleanup record = [&] { RecordPhases(result.times, *metrics_); };
  const std::size_t num_titles = input.titles.size();
  const std::size_t last =
      SliceEnd(own_state.next_named, input.num_named(), [&](std::size_t i) {
        return i < num_titles ? input.titles[i].size() : 0;
      });
  // A request of one slice stays in this thread, so it uses the thread's state.
  // No slice follows, so own_state.begun may stay false.
  const bool is_one_slice = !own_state.begun && last == input.num_named();
  RankState& state = is_one_slice ? ThreadState() : own_state;
  CandidateScorer scorer({.limits = limits_,
                          .embedder = embedder_,
                          .catalog = catalog_,
                          .served = served,
                          .caller = caller},
                         state.scored, result);
  if (!own_state.begun) {
    state.begun = true;
    state.next_named = 0;
    result.times = {};
    result.cache = {};
    result.problems.clear();
    result.catalog.slots.clear();
    // A reused result must not keep the documents of its last request in
    // memory.
    result.catalog.snapshot.Release();
    SEMRANK_RETURN_IF_ERROR(CheckStillWanted(caller));
    SEMRANK_RETURN_IF_ERROR(scorer.BeginWith(input));
  }
  // Candidates are numbered titles first, then documents. A slice may have the
  // last titles and the first documents.
  const std::size_t first = std::exchange(state.next_named, last);
  const std::size_t title = std::min(first, num_titles);
  const std::size_t last_title = std::min(last, num_titles);
  SEMRANK_RETURN_IF_ERROR(
      scorer.ScoreTitles(input.titles.subspan(title, last_title - title),
                         static_cast<std::uint32_t>(title)));
  SEMRANK_RETURN_IF_ERROR(
      scorer.ScoreDocuments(input, std::max(first, num_titles) - num_titles,
                            std::max(last, num_titles) - num_titles));
  if (last < input.num_named()) {
    std::move(record).Cancel();
    return Progress::kMore;
  }
  scorer.ScoreVectors(input.vectors, static_cast<std::uint32_t>(last));
  Stopwatch clock;
  // No slice follows, so the rows of all candidates are scored by now.
  Select(input, state.scored, result);
  CountQuality(served, result);
  result.times[Phase::kScore] += clock.Lap();
  return Progress::kDone;
}

}  // namespace semrank
