#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "model/train/towers/training_kernels.h"

namespace semrank {
namespace {

constexpr int kWidth = 10000;

std::vector<float> Applied(const Dropout& dropout, const HiddenRow& row) {
  std::vector<float> units(kWidth, 0.5f);
  std::vector<std::uint8_t> kept(kWidth);
  dropout.Apply(row, units, kept);
  return units;
}

TEST(DropoutTest, DropsItsShareAndKeepsTheMean) {
  const std::vector<float> units = Applied(Dropout(0.3, 1), {0, 0});
  int num_dropped = 0;
  for (const float unit : units) {
    if (unit == 0) {
      ++num_dropped;
    } else {
      EXPECT_FLOAT_EQ(unit, 0.5f / 0.7f);
    }
  }
  // Five standard deviations of a binomial distribution.
  EXPECT_NEAR(num_dropped, 0.3 * kWidth, 5 * std::sqrt(0.21 * kWidth));
}

TEST(DropoutTest, EveryTextLayerStepAndSeedHasItsOwnStream) {
  Dropout dropout(0.5, 1);
  const std::vector<float> units = Applied(dropout, {3, 1});
  EXPECT_EQ(units, Applied(dropout, {3, 1}));
  EXPECT_NE(units, Applied(dropout, {4, 1}));
  EXPECT_NE(units, Applied(dropout, {3, 0}));
  EXPECT_NE(units, Applied(Dropout(0.5, 2), {3, 1}));
  dropout.SetStep(1);
  EXPECT_NE(units, Applied(dropout, {3, 1}));
}

}  // namespace
}  // namespace semrank
