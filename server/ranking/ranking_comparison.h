// How alike two rankings of the same candidates are.
#ifndef SEMRANK_SERVER_RANKING_RANKING_COMPARISON_H_
#define SEMRANK_SERVER_RANKING_RANKING_COMPARISON_H_

#include <cstddef>
#include <optional>
#include <span>

#include "model/nn/cosine_scorer.h"

namespace semrank {

struct RankingComparison {
  // The share of the first ten results of one ranking (all, if it has fewer)
  // that are among as many first results of the other.
  double overlap = 1;
  // Kendall's tau of the first ranking's results: 1 = the second one has them
  // in the same order, -1 = in the opposite one. Nullopt for fewer than two.
  std::optional<double> correlation = {};
};

inline constexpr std::size_t kComparedOverlap = 10;
// The correlation takes this many of the first results, since its cost grows
// with their square.
inline constexpr std::size_t kComparedOrder = 100;

// `other` has all candidates of `shown`, and maybe more.
RankingComparison CompareRankings(std::span<const RankedDocument> shown,
                                  std::span<const RankedDocument> other);

}  // namespace semrank

#endif  // SEMRANK_SERVER_RANKING_RANKING_COMPARISON_H_
