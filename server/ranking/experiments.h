// What a server tries on a share of the lists that are shown (EXPERIMENTS.md):
//
//   Exploration   exchanges two results of a list. Clicks on the same result at
//                 two positions separate the effect of a position from that of
//                 relevance (intervention harvesting: Agarwal et al., WSDM
//                 2019).
//   Interleaving  makes one list of two rankings, in which users click more on
//                 the results of the better one: team draft (Radlinski, Kurup
//                 and Joachims, CIKM 2008, algorithm 2). As when two captains
//                 choose players, a coin decides in each round which ranking
//                 contributes its best remaining result first; the other one
//                 follows.
#ifndef SEMRANK_SERVER_RANKING_EXPERIMENTS_H_
#define SEMRANK_SERVER_RANKING_EXPERIMENTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/base/random.h"

namespace semrank {

struct Experiments {
  // The share of impressions that have two results exchanged.
  double explore_rate = 0;
  // The share of impressions of model A that are interleaved with the ranking
  // of model B. Names of two served models; 0 = none.
  double interleave_share = 0;
  std::string interleave_a = {};
  std::string interleave_b = {};
};

// Positions of two results, from 1; both 0 = none are exchanged.
struct SwappedPair {
  std::uint32_t first = 0;
  std::uint32_t second = 0;  // above `first`
};

inline constexpr std::size_t kMaxExploredPosition = 10;

// With probability `rate`, a pair of a list of `num_results` results. All pairs
// of the first ten results have the same probability: neighbours alone
// (FairPairs: Radlinski and Joachims, AAAI 2006) disturb users less, but the
// curve from position 1 to 10 is then a product of nine ratios, whose errors
// add up (EXPERIMENTS.md has the figures). The first `num_fixed` results, which
// the query names, keep their places: a user who typed a name expects it there.
SwappedPair ChoosePair(double rate, std::size_t num_fixed,
                       std::size_t num_results, Random& random);

// Exchanges the values of two results. `values` may be empty.
template <typename T>
void Exchange(const SwappedPair& pair, std::vector<T>& values) {
  if (pair.first == 0 || values.empty()) return;
  std::swap(values[pair.first - 1], values[pair.second - 1]);
}

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

#endif  // SEMRANK_SERVER_RANKING_EXPERIMENTS_H_
