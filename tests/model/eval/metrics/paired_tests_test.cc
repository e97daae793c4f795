#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "model/eval/metrics/comparison.h"

namespace semrank {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

using Differences = std::vector<double>;

TEST(PairedTestsTest, TTestOfFiveDifferencesByHand) {
  const PairedComparison result = ComparePaired(Differences{1, 2, 3, 4, 5});
  EXPECT_DOUBLE_EQ(result.delta, 3);
  EXPECT_DOUBLE_EQ(result.standard_error, std::sqrt(2.5 / 5));
  // t = 3 sqrt(2) with 4 degrees of freedom, whose distribution function is
  // 1/2 + 3/8 u (1 - u^2 / 12), u = t / sqrt(1 + t^2 / 4).
  const double u = 3 * std::sqrt(2.0) / std::sqrt(1 + 18 / 4.0);
  EXPECT_NEAR(result.t_test_p, 2 * (0.5 - 3 / 8.0 * u * (1 - u * u / 12)),
              1e-12);
}

TEST(PairedTestsTest, RandomizationTestCountsSignsThatGiveAsMuch) {
  // Two of the 32 choices of signs give a sum of 15 or -15; the tolerance is
  // four standard deviations of 10,000 draws.
  const PairedComparison result = ComparePaired(Differences{1, 2, 3, 4, 5});
  EXPECT_NEAR(result.randomization_p, 2 / 32.0, 0.01);
  EXPECT_EQ(result.randomization_p,
            ComparePaired(Differences{1, 2, 3, 4, 5}).randomization_p);
}

TEST(PairedTestsTest, BothTestsAgreeOnManyQueries) {
  Differences differences;
  for (int q = 0; q < 500; ++q) {
    differences.push_back(0.02 + 0.3 * std::sin(q * 1.7));
  }
  const PairedComparison result = ComparePaired(differences);
  EXPECT_GT(result.t_test_p, 0.01);
  EXPECT_NEAR(result.randomization_p, result.t_test_p, 0.02);
}

TEST(PairedTestsTest, WinsTiesAndLossesAreCounted) {
  const PairedComparison result =
      ComparePaired(Differences{0.5, 1e-15, 0, -0.25, 0.1});
  EXPECT_EQ(result.wins, 2u);
  EXPECT_EQ(result.ties, 2u);
  EXPECT_EQ(result.losses, 1u);
}

TEST(PairedTestsTest, EqualRankersDoNotDiffer) {
  const PairedComparison result = ComparePaired(Differences{0, 0, 0});
  EXPECT_EQ(result.delta, 0);
  EXPECT_EQ(result.t_test_p, 1);
  EXPECT_EQ(result.randomization_p, 1);
}

TEST(PairedTestsTest, OneQueryHasNoSignificance) {
  EXPECT_EQ(ComparePaired(Differences{1}).t_test_p, 1);
  EXPECT_EQ(ComparePaired(Differences{1}).delta, 1);
}

TEST(PairedTestsTest, ConstantDifferenceHasPZero) {
  EXPECT_EQ(ComparePaired(Differences{0.5, 0.5, 0.5}).t_test_p, 0);
}

TEST(HolmCorrectionTest, KeepsTheOrderOfThePValues) {
  EXPECT_THAT(HolmCorrection(std::vector<double>{0.01, 0.04, 0.03}),
              ElementsAre(DoubleNear(0.03, 1e-15), DoubleNear(0.06, 1e-15),
                          DoubleNear(0.06, 1e-15)));
  EXPECT_THAT(HolmCorrection(std::vector<double>{0.9, 0.8}), ElementsAre(1, 1));
}

}  // namespace
}  // namespace semrank
