#include "server/ranking/interleave.h"

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
