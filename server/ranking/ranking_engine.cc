#include "server/ranking/ranking_engine.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "model/base/status_macros.h"
#include "server/ranking/candidate_scorer.h"

namespace semrank {
namespace {

// The best of the scored candidates.
void Select(const RankInput& input, const ScoredCandidates& scored,
            std::vector<RankedDocument>& ranking) {
  RankScores(scored.scores, input.top_k, ranking);
  // Cutting the sorted list after top_k leaves what cutting before it leaves.
  if (input.min_score.has_value()) {
    std::erase_if(ranking, [&](const RankedDocument& document) {
      return document.score < *input.min_score;
    });
  }
  for (RankedDocument& document : ranking) {
    document.index = scored.candidates[document.index];
  }
}

// Of requests that are done in one turn, so that they allocate nothing.
RankTurns& ThreadTurns() {
  thread_local RankTurns turns;
  return turns;
}

}  // namespace

absl::Status RankingEngine::Rank(const ServedModel& served,
                                 const RankInput& input, const Caller& caller,
                                 RankResult& result) const {
  RankTurns turns;
  while (true) {
    SEMRANK_ASSIGN_OR_RETURN(const Progress progress,
                             Turn(served, input, caller, turns, result));
    if (progress == Progress::kDone) return absl::OkStatus();
  }
}

absl::StatusOr<Progress> RankingEngine::Turn(const ServedModel& served,
                                             const RankInput& input,
                                             const Caller& caller,
                                             RankTurns& turns,
                                             RankResult& result) const {
  absl::StatusOr<Progress> progress =
      Stages(served, input, caller, turns, result);
  const bool over = !progress.ok() || *progress == Progress::kDone;
  if (over) RecordStages(result.times, *metrics_);
  return progress;
}

absl::StatusOr<Progress> RankingEngine::Stages(const ServedModel& served,
                                               const RankInput& input,
                                               const Caller& caller,
                                               RankTurns& own_turns,
                                               RankResult& result) const {
  const std::size_t num_titles = input.titles.size();
  const std::size_t last =
      TurnEnd(own_turns.next_named, input.num_named(), [&](std::size_t i) {
        return i < num_titles ? input.titles[i].size() : 0;
      });
  const bool one_turn = !own_turns.begun && last == input.num_named();
  RankTurns& turns = one_turn ? ThreadTurns() : own_turns;
  CandidateScorer scorer(limits_, embedder_, served, caller, turns.scored,
                         result);
  if (!own_turns.begun) {
    turns.begun = true;
    turns.next_named = 0;
    result.times = {};
    result.cache = {};
    result.problems.clear();
    result.catalog.slots.clear();
    result.catalog.snapshot.Release();
    SEMRANK_RETURN_IF_ERROR(Check(served, input));
    SEMRANK_RETURN_IF_ERROR(CheckStillWanted(caller));
    SEMRANK_RETURN_IF_ERROR(scorer.BeginWith(input.query));
  }
  const std::size_t first = std::exchange(turns.next_named, last);
  const std::size_t title = std::min(first, num_titles);
  const std::size_t last_title = std::min(last, num_titles);
  SEMRANK_RETURN_IF_ERROR(
      scorer.ScoreTitles(input.titles.subspan(title, last_title - title),
                         static_cast<std::uint32_t>(title)));
  SEMRANK_RETURN_IF_ERROR(scorer.ScoreDocuments(
      catalog_, input, std::max(first, num_titles) - num_titles,
      std::max(last, num_titles) - num_titles));
  if (last < input.num_named()) return Progress::kMore;
  scorer.ScoreVectors(input.vectors, static_cast<std::uint32_t>(last));
  StageClock clock;
  Select(input, turns.scored, result.ranking);
  result.times[Stage::kScore] += clock.Lap();
  return Progress::kDone;
}

}  // namespace semrank
