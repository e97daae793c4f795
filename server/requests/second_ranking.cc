#include "server/requests/second_ranking.h"

#include <algorithm>
#include <vector>

namespace semrank {
namespace {

// A draft works on the numbers of candidates, which mean the same in both
// rankings. A pick is a place in one of them, and each array that is parallel
// to a ranking (results, name matches, part scores) is then gathered by the
// picks, so that they stay parallel.

std::vector<std::uint32_t> Candidates(const RankResult& result) {
  std::vector<std::uint32_t> candidates;
  candidates.reserve(result.ranking.size());
  for (const RankedDocument& document : result.ranking) {
    candidates.push_back(document.index);
  }
  return candidates;
}

// Replaces the results of `a` by those of the picks.
void ApplyToResult(std::span<const DraftPick> picks, const RankResult& b,
                   RankResult& a) {
  ApplyDraft(picks, b.ranking, a.ranking);
  ApplyDraft(picks, b.names, a.names);
  ApplyDraft(picks, b.parts.semantic, a.parts.semantic);
  ApplyDraft(picks, b.parts.lexical, a.parts.lexical);
}

}  // namespace

absl::StatusOr<Progress> SecondRanking::RunSlice(const RankingEngine& engine,
                                                 const RankInput& input,
                                                 const Caller& caller) {
  if (served_ == nullptr) return Progress::kDone;
  return engine.RunSlice(*served_, input, caller, progress_, result_);
}

ListExperiment SecondRanking::Interleave(RankResult& first) {
  if (served_ == nullptr) {
    UseRequestOrder(first);
  } else {
    DropProblems(first);
  }
  ListExperiment experiment = Draft(Candidates(first), Candidates(result_));
  ApplyToResult(experiment.picks, result_, first);
  // The request as a whole has one time in the queue, which the run adds.
  for (const Phase phase :
       {Phase::kParse, Phase::kCache, Phase::kEmbed, Phase::kScore}) {
    first.times[phase] += result_.times[phase];
  }
  return experiment;
}

ListExperiment SecondRanking::Draft(
    std::span<const std::uint32_t> first,
    std::span<const std::uint32_t> second) const {
  ListExperiment experiment;
  experiment.picks = TeamDraft(first, second, max_results_, ThreadRandom());
  experiment.ranker_b =
      served_ == nullptr ? std::string(kRequestOrder) : RankerName(*served_);
  return experiment;
}

// The rankings take their snapshots of the catalog one after the other, so the
// second may have a document that was put after the first one, whose records
// the response names.
void SecondRanking::DropProblems(const RankResult& first) {
  if (first.problems.empty()) return;
  std::vector<DraftPick> kept;
  for (std::size_t i = 0; i < result_.ranking.size(); ++i) {
    const auto found = std::ranges::find(
        first.problems, result_.ranking[i].index, &ItemProblem::index);
    if (found != first.problems.end()) continue;
    kept.push_back({.place = static_cast<std::uint32_t>(i)});
  }
  ApplyToResult(kept, {}, result_);
}

// Sets the second ranking to the results of `first` in request order. Without a
// model it has no scores of its own. Candidates that `first` could not score
// are in neither ranking.
void SecondRanking::UseRequestOrder(const RankResult& first) {
  std::vector<DraftPick> order(first.ranking.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i].place = static_cast<std::uint32_t>(i);
  }
  std::ranges::sort(order, {}, [&](const DraftPick& pick) {
    return first.ranking[pick.place].index;
  });
  result_.ranking = first.ranking;
  result_.names = first.names;
  result_.parts = first.parts;
  ApplyToResult(order, {}, result_);
}

}  // namespace semrank
