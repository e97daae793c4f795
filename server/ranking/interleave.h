// Team-draft interleaving (Radlinski, Kurup and Joachims, CIKM 2008, algorithm
// 2): one list of two rankings, in which users click more on the results of the
// better one. As when two captains choose players, a coin decides in each round
// which ranking contributes its best remaining result first; the other one
// follows.
#ifndef SEMRANK_SERVER_RANKING_INTERLEAVE_H_
#define SEMRANK_SERVER_RANKING_INTERLEAVE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "model/base/random.h"

namespace semrank {

// A result of an interleaved list.
struct DraftPick {
  std::uint32_t place = 0;  // in the ranking that contributed it, from 0
  // The ranking that contributed it.
  bool is_b = false;
  // Whether clicks on it count for that ranking. A result that was added after
  // the other ranking had ended does not: its position is not a coin's.
  bool in_team = true;

  friend bool operator==(const DraftPick&, const DraftPick&) = default;
};

// The best `max_picks` results (0 = all) of two rankings, which list documents
// by number, each at most once. No document comes twice. In each prefix the two
// teams differ by at most one result, until one ranking has ended.
std::vector<DraftPick> TeamDraft(std::span<const std::uint32_t> ranking_a,
                                 std::span<const std::uint32_t> ranking_b,
                                 std::size_t max_picks, Random& random);

// Replaces the values of ranking A's results by those of the picks. `of_b` has
// the values of ranking B; an empty list stands for default values.
template <typename T>
void ApplyDraft(std::span<const DraftPick> picks, const std::vector<T>& of_b,
                std::vector<T>& of_a) {
  if (of_a.empty() && of_b.empty()) return;
  std::vector<T> values;
  values.reserve(picks.size());
  for (const DraftPick& pick : picks) {
    const std::vector<T>& of = pick.is_b ? of_b : of_a;
    values.push_back(of.empty() ? T() : of[pick.place]);
  }
  of_a = std::move(values);
}

}  // namespace semrank

#endif  // SEMRANK_SERVER_RANKING_INTERLEAVE_H_
