// Exploration: exchanges two results of a few lists that are shown. Clicks on
// the same result at two positions separate the effect of a position from that
// of relevance (intervention harvesting: Agarwal et al., WSDM 2019).
//
//   Pair     any two of the first ten results, all pairs with the same
//            probability. Neighbours alone (FairPairs: Radlinski and Joachims,
//            AAAI 2006) disturb users less, but the curve from position 1 to 10
//            is then a product of nine ratios, whose errors add up
//            (EXPERIMENTS.md has the figures).
//   Names    results that the query names keep their places: a user who typed
//            a name expects it there.
#ifndef SEMRANK_SERVER_RANKING_EXPLORE_H_
#define SEMRANK_SERVER_RANKING_EXPLORE_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/base/random.h"

namespace semrank {

// Positions of two results, from 1; both 0 = none are exchanged.
struct SwappedPair {
  std::uint32_t first = 0;
  std::uint32_t second = 0;  // above `first`
};

inline constexpr std::size_t kMaxExploredPosition = 10;

// With probability `rate`, a pair of a list of `num_results` results, of which
// the first `num_fixed` keep their places.
SwappedPair ChoosePair(double rate, std::size_t num_fixed,
                       std::size_t num_results, Random& random);

// Exchanges the values of two results. `values` may be empty.
template <typename T>
void Exchange(const SwappedPair& pair, std::vector<T>& values) {
  if (pair.first == 0 || values.empty()) return;
  std::swap(values[pair.first - 1], values[pair.second - 1]);
}

}  // namespace semrank

#endif  // SEMRANK_SERVER_RANKING_EXPLORE_H_
