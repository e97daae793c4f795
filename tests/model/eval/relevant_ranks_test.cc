#include "model/eval/relevant_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::Pair;

using Ranks = std::vector<std::pair<std::int64_t, int>>;

Ranks RanksOf(const std::vector<float>& scores,
              const std::vector<GradedPosition>& relevant) {
  Ranks ranks;
  for (const RankedGrade& ranked : RankRelevant(scores, relevant)) {
    ranks.emplace_back(ranked.rank, ranked.grade);
  }
  return ranks;
}

TEST(RelevantRanksTest, RanksByFallingScore) {
  EXPECT_THAT(RanksOf({0.1f, 0.9f, 0.5f, -0.2f}, {{0, 1}, {1, 2}, {3, 3}}),
              ElementsAre(Pair(1, 2), Pair(3, 1), Pair(4, 3)));
}

TEST(RelevantRanksTest, TiesKeepTheOrderOfThePositions) {
  EXPECT_THAT(RanksOf({0, 0, 0, 0, 1}, {{3, 1}, {1, 2}}),
              ElementsAre(Pair(3, 2), Pair(5, 1)));
}

TEST(RelevantRanksTest, NoneRelevantIsEmpty) {
  EXPECT_TRUE(RanksOf({1, 2}, {}).empty());
}

TEST(RelevantRanksTest, AgreesWithSortingEverything) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    // Few distinct scores: many ties.
    std::vector<float> scores(1 + random() % 40);
    for (float& score : scores) score = static_cast<float>(random() % 6) - 2;
    std::vector<GradedPosition> relevant;
    for (std::uint32_t p = 0; p < scores.size(); ++p) {
      if (random() % 4 == 0) relevant.push_back({p, static_cast<int>(p) + 1});
    }
    std::vector<std::uint32_t> order(scores.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return scores[a] > scores[b]; });
    Ranks want;
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (const GradedPosition& position : relevant) {
        if (position.position == order[i]) {
          want.emplace_back(i + 1, position.grade);
        }
      }
    }
    EXPECT_THAT(RanksOf(scores, relevant), ElementsAreArray(want));
  }
}

}  // namespace
}  // namespace semrank
