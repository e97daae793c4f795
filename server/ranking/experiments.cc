#include "server/ranking/experiments.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"

namespace semrank {
namespace {

// A ranking during the draft.
struct Captain {
  std::span<const std::uint32_t> ranking;
  std::size_t next = 0;
  std::size_t team_size = 0;

  // Moves to its best result that is not chosen yet. False = there is none.
  bool FindNext(const absl::flat_hash_set<std::uint32_t>& chosen) {
    while (next < ranking.size() && chosen.contains(ranking[next])) ++next;
    return next < ranking.size();
  }
};

}  // namespace

// Every pair of free places is equally likely: the first is drawn among all of
// them, and the second among the others.
SwappedPair ChoosePair(double rate, std::size_t num_fixed,
                       std::size_t num_results, Random& random) {
  const std::size_t end = std::min(num_results, kMaxExploredPosition);
  // Between returns less than 1, so a rate of 1 explores every list.
  if (random.Between(0, 1) >= rate || end < num_fixed + 2) return {};
  const auto num_free = static_cast<std::uint32_t>(end - num_fixed);
  const std::uint32_t one = random.Below(num_free);
  // The second is one of the others, counted on from the first.
  const std::uint32_t other = (one + 1 + random.Below(num_free - 1)) % num_free;
  const auto first_free = static_cast<std::uint32_t>(num_fixed + 1);
  return {first_free + std::min(one, other), first_free + std::max(one, other)};
}

// Teams of equal size begin a new round of algorithm 2: a coin flip chooses the
// team that picks first. Otherwise the smaller team picks and ends the round.
std::vector<DraftPick> TeamDraft(std::span<const std::uint32_t> ranking_a,
                                 std::span<const std::uint32_t> ranking_b,
                                 std::size_t max_picks, Random& random) {
  std::vector<DraftPick> picks;
  absl::flat_hash_set<std::uint32_t> chosen;
  Captain a = {ranking_a};
  Captain b = {ranking_b};
  while (max_picks == 0 || picks.size() < max_picks) {
    const bool a_has_more = a.FindNext(chosen);
    const bool b_has_more = b.FindNext(chosen);
    if (!a_has_more && !b_has_more) break;
    // Once one ranking is exhausted, the other fills the list without coin
    // flips. Clicks on those results do not show which ranking is better.
    const bool in_team = a_has_more && b_has_more;
    const bool is_b = !in_team                     ? b_has_more
                      : a.team_size == b.team_size ? random.Below(2) == 1
                                                   : b.team_size < a.team_size;
    Captain& captain = is_b ? b : a;
    chosen.insert(captain.ranking[captain.next]);
    picks.push_back({.place = static_cast<std::uint32_t>(captain.next),
                     .is_b = is_b,
                     .in_team = in_team});
    if (in_team) ++captain.team_size;
  }
  return picks;
}

}  // namespace semrank
