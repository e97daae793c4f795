#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "server/ranking/shadow_ranker.h"

namespace semrank {
namespace {

// Candidates first, first + step, ...
std::vector<RankedDocument> Candidates(std::uint32_t first, int count,
                                       int step) {
  std::vector<RankedDocument> ranking;
  for (int i = 0; i < count; ++i) {
    ranking.push_back({.index = first + static_cast<std::uint32_t>(i * step)});
  }
  return ranking;
}

TEST(RankingComparisonTest, EqualRankingsAgree) {
  const auto ranking = Candidates(0, 30, 1);
  const RankingComparison same = CompareRankings(ranking, ranking);
  EXPECT_EQ(same.overlap, 1);
  EXPECT_EQ(same.correlation, 1);
}

TEST(RankingComparisonTest, AnOppositeOrderIsMinusOne) {
  const auto ranking = Candidates(0, 20, 1);
  const RankingComparison opposite =
      CompareRankings(ranking, Candidates(19, 20, -1));
  EXPECT_EQ(opposite.overlap, 0);
  EXPECT_EQ(opposite.correlation, -1);
}

TEST(RankingComparisonTest, OnlyTheFirstTenOverlap) {
  auto other = Candidates(0, 20, 1);
  std::swap(other[0], other[10]);
  std::swap(other[11], other[19]);
  const RankingComparison comparison =
      CompareRankings(Candidates(0, 20, 1), other);
  EXPECT_EQ(comparison.overlap, .9);
}

// Two pairs of six are in the other order.
TEST(RankingComparisonTest, TheCorrelationIsKendallsTau) {
  const std::vector<RankedDocument> other = {{1}, {0}, {3}, {2}};
  EXPECT_DOUBLE_EQ(*CompareRankings(Candidates(0, 4, 1), other).correlation,
                   2.0 / 6);
}

TEST(RankingComparisonTest, AShortListHasNoOrder) {
  const auto one = Candidates(0, 1, 1);
  EXPECT_EQ(CompareRankings(one, Candidates(0, 5, 1)).overlap, 1);
  EXPECT_EQ(CompareRankings(one, one).correlation, std::nullopt);
  EXPECT_EQ(CompareRankings({}, one).overlap, 1);
}

}  // namespace
}  // namespace semrank
