#include "server/ranking/ranking_engine.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "model/base/status_macros.h"
#include "server/ranking/candidate_scorer.h"

namespace semrank {
namespace {

// values[i] becomes all[ranking[i].index]; empty stays empty.
// `ranking` still has places in the list of scored candidates, not the numbers
// of candidates.
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

// Moves the named candidates of a whole ranking to its front, then cuts it.
void LiftNamed(const std::vector<NameMatch>& names, std::uint32_t top_k,
               std::vector<RankedDocument>& ranking) {
  std::ranges::stable_sort(
      // Stable, so candidates that are named equally well stay in the order of
      // score.
      ranking, std::greater<>(),
      [&](const RankedDocument& document) { return names[document.index]; });
  if (top_k != 0 && top_k < ranking.size()) ranking.resize(top_k);
}

// The best of the scored candidates.
void Select(const RankInput& input, const ScoredCandidates& scored,
            RankResult& result) {
  std::vector<RankedDocument>& ranking = result.ranking;
  // All are ranked if names count, since a named candidate with a low score
  // comes first and must not be cut.
  const bool by_name = scored.name.has_value();
  RankScores(scored.scores, by_name ? 0 : input.top_k, ranking);
  // Cutting the sorted list after top_k leaves what cutting before it leaves.
  if (input.min_score.has_value()) {
    std::erase_if(ranking, [&](const RankedDocument& document) {
      return document.score < *input.min_score;
    });
  }
  if (by_name) LiftNamed(scored.names, input.top_k, ranking);
  SelectOf(scored.names, ranking, result.names);
  SelectOf(scored.parts.semantic, ranking, result.parts.semantic);
  SelectOf(scored.parts.lexical, ranking, result.parts.lexical);
  // Last: the selections above need the places.
  for (RankedDocument& document : ranking) {
    document.index = scored.candidates[document.index];
  }
}

// For requests that need one slice only, so that they allocate nothing.
RankState& ThreadState() {
  thread_local RankState state;
  return state;
}

}  // namespace

absl::StatusOr<Progress> RankingEngine::RunSlice(const ServedModel& served,
                                                 const RankInput& input,
                                                 const Caller& caller,
                                                 RankState& state,
                                                 RankResult& result) const {
  // Stages of failed requests are recorded too; a slow stage is often why they
  // failed.
  absl::StatusOr<Progress> progress =
      Stages(served, input, caller, state, result);
  const bool over = !progress.ok() || *progress == Progress::kDone;
  if (over) RecordStages(result.times, *metrics_);
  return progress;
}

// One slice, over the candidates numbered through: titles, documents of the
// catalog, vectors. The first slice also finds the query's vector, the last one
// selects.
absl::StatusOr<Progress> RankingEngine::Stages(const ServedModel& served,
                                               const RankInput& input,
                                               const Caller& caller,
                                               RankState& own_state,
                                               RankResult& result) const {
  const std::size_t num_titles = input.titles.size();
  const std::size_t last =
      SliceEnd(own_state.next_named, input.num_named(), [&](std::size_t i) {
        return i < num_titles ? input.titles[i].size() : 0;
      });
  // A request of one slice never leaves this thread, so it borrows the thread's
  // state. own_state.begun stays false then, as nothing follows.
  const bool one_turn = !own_state.begun && last == input.num_named();
  RankState& state = one_turn ? ThreadState() : own_state;
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
    // A result that is used again must not keep the documents of its last
    // request from being reclaimed.
    result.catalog.snapshot.Release();
    SEMRANK_RETURN_IF_ERROR(CheckStillWanted(caller));
    SEMRANK_RETURN_IF_ERROR(scorer.BeginWith(input));
  }
  const std::size_t first = std::exchange(state.next_named, last);
  const std::size_t title = std::min(first, num_titles);
  const std::size_t last_title = std::min(last, num_titles);
  SEMRANK_RETURN_IF_ERROR(
      scorer.ScoreTitles(input.titles.subspan(title, last_title - title),
                         static_cast<std::uint32_t>(title)));
  SEMRANK_RETURN_IF_ERROR(
      scorer.ScoreDocuments(input, std::max(first, num_titles) - num_titles,
                            std::max(last, num_titles) - num_titles));
  if (last < input.num_named()) return Progress::kMore;
  scorer.ScoreVectors(input.vectors, static_cast<std::uint32_t>(last));
  StageClock clock;
  Select(input, state.scored, result);
  result.times[Stage::kScore] += clock.Lap();
  return Progress::kDone;
}

}  // namespace semrank
