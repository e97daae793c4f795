#include "model/base/random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::Ne;

// Seeds of published models mean these numbers.
TEST(RandomTest, NumbersOfASeedNeverChange) {
  Random random(1, RandomPurpose::kPairOrder, 2, 3);
  const std::vector<std::uint64_t> numbers = {random.Next(), random.Next(),
                                              random.Next()};
  EXPECT_THAT(numbers, ElementsAre(11697976951875650486u, 557142031506007552u,
                                   283492309682931288u));
  EXPECT_EQ(random.Below(1000), 259u);
  EXPECT_EQ(random.Between(-1, 1), 0.578041792f);
}

TEST(RandomTest, StreamsDifferBySeedPurposeIndexAndPart) {
  std::set<std::uint64_t> firsts;
  for (const std::uint64_t seed : {0, 1}) {
    for (const auto purpose :
         {RandomPurpose::kQueryWeights, RandomPurpose::kNegatives}) {
      for (const std::uint64_t index : {0, 1}) {
        for (const std::uint64_t part : {0, 1}) {
          firsts.insert(Random(seed, purpose, index, part).Next());
        }
      }
    }
  }
  EXPECT_EQ(firsts.size(), 16u);
}

TEST(RandomTest, BelowReachesAllNumbersEvenly) {
  Random random(7, RandomPurpose::kNegatives);
  std::vector<int> counts(6);
  for (int i = 0; i < 60000; ++i) ++counts.at(random.Below(6));
  // Five standard deviations of a binomial with n = 60,000, p = 1/6.
  for (const int count : counts) EXPECT_NEAR(count, 10000, 457);
}

TEST(RandomTest, BetweenStaysInsideAndIsCentred) {
  Random random(7, RandomPurpose::kQueryWeights);
  double sum = 0;
  for (int i = 0; i < 100000; ++i) {
    const float value = random.Between(-2, 2);
    ASSERT_GE(value, -2);
    ASSERT_LE(value, 2);
    sum += value;
  }
  // Five standard deviations of the mean.
  EXPECT_NEAR(sum / 100000, 0, 0.0183);
}

TEST(RandomTest, ShuffleKeepsEveryValue) {
  std::vector<int> values(100);
  std::iota(values.begin(), values.end(), 0);
  const std::vector<int> sorted = values;
  Random random(1, RandomPurpose::kPairOrder);
  Shuffle(random, values);
  EXPECT_THAT(values, Ne(sorted));
  std::sort(values.begin(), values.end());
  EXPECT_EQ(values, sorted);
}

}  // namespace
}  // namespace semrank
