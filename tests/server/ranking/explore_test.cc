#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "server/ranking/experiments.h"

namespace semrank {
namespace {

using Positions = std::pair<std::uint32_t, std::uint32_t>;

// How often each pair is chosen in `count` lists of `num_results`.
std::map<Positions, int> ChoosePairs(double rate, std::size_t num_fixed,
                                     std::size_t num_results, int count) {
  Random random(1, RandomPurpose::kServing);
  std::map<Positions, int> pairs;
  for (int i = 0; i < count; ++i) {
    const auto [first, second] =
        ChoosePair(rate, num_fixed, num_results, random);
    ++pairs[{first, second}];
  }
  return pairs;
}

TEST(ExploreTest, EachPairOfTheFirstTenIsEquallyLikely) {
  const auto pairs = ChoosePairs(1, 0, 50, 45'000);
  EXPECT_EQ(pairs.size(), 45u);
  for (const auto& [positions, count] : pairs) {
    EXPECT_GE(positions.first, 1u);
    EXPECT_LT(positions.first, positions.second);
    EXPECT_LE(positions.second, 10u);
    EXPECT_NEAR(count, 1'000, 160);  // five standard deviations
  }
}

TEST(ExploreTest, TheRateIsTheShareOfListsWithAPair) {
  const auto pairs = ChoosePairs(.05, 0, 10, 100'000);
  EXPECT_NEAR(pairs.at({0, 0}), 95'000, 350);  // five standard deviations
  EXPECT_EQ(ChoosePairs(0, 0, 10, 1'000).at({0, 0}), 1'000);
}

TEST(ExploreTest, FixedResultsAndPositionsAfterTheEndStay) {
  for (const auto& [positions, count] : ChoosePairs(1, 2, 5, 1'000)) {
    EXPECT_GE(positions.first, 3u);
    EXPECT_LE(positions.second, 5u);
  }
  // A pair needs two results that may move.
  for (const std::size_t num_results : {0, 1, 2, 3}) {
    EXPECT_EQ(ChoosePairs(1, 2, num_results, 10).at({0, 0}), 10);
  }
  EXPECT_EQ(ChoosePairs(1, 12, 20, 10).at({0, 0}), 10);
}

TEST(ExploreTest, OneSeedGivesOneSequence) {
  EXPECT_EQ(ChoosePairs(.5, 0, 10, 100), ChoosePairs(.5, 0, 10, 100));
}

}  // namespace
}  // namespace semrank
