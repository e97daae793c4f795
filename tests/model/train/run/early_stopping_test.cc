#include <gtest/gtest.h>

#include <limits>

#include "model/train/run/training_state.h"

namespace semrank {
namespace {

TEST(EarlyStoppingTest, KeepsTheFirstOfTheBest) {
  EarlyStopping stopping(10);
  EXPECT_EQ(stopping.best_epoch(), 0);
  EXPECT_TRUE(stopping.Add(-3));
  EXPECT_TRUE(stopping.Add(-1));
  EXPECT_FALSE(stopping.Add(-1));
  EXPECT_FALSE(stopping.Add(-2));
  EXPECT_EQ(stopping.best_epoch(), 2);
}

TEST(EarlyStoppingTest, WhatIsNoNumberIsNeverTheBest) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  EarlyStopping stopping(3);
  EXPECT_FALSE(stopping.Add(kNaN));
  EXPECT_EQ(stopping.best_epoch(), 0);
  EXPECT_TRUE(stopping.Add(-1e9));
  EXPECT_FALSE(stopping.Add(kNaN));
  EXPECT_FALSE(stopping.Add(-2e9));
  EXPECT_FALSE(stopping.ShouldStop());
  EXPECT_FALSE(stopping.Add(kNaN));
  EXPECT_TRUE(stopping.ShouldStop());
  EXPECT_EQ(stopping.best_epoch(), 2);
}

TEST(EarlyStoppingTest, StopsAfterPatienceEpochsWithoutImprovement) {
  EarlyStopping stopping(2);
  stopping.Add(1);
  EXPECT_FALSE(stopping.ShouldStop());
  stopping.Add(0);
  EXPECT_FALSE(stopping.ShouldStop());
  stopping.Add(2);
  stopping.Add(1);
  EXPECT_FALSE(stopping.ShouldStop());
  stopping.Add(1.5);
  EXPECT_TRUE(stopping.ShouldStop());
}

TEST(EarlyStoppingTest, ALaterEpochWithinTheNoiseOfTheHighestIsTheBest) {
  EarlyStopping stopping(3);
  EXPECT_TRUE(stopping.Add(0.50, 0.02));
  EXPECT_TRUE(stopping.Add(0.49, 0.02));
  // Below the highest, not below the one before.
  EXPECT_FALSE(stopping.Add(0.475, 0.02));
  EXPECT_EQ(stopping.best_epoch(), 2);
  EXPECT_EQ(stopping.highest_epoch(), 1);
  EXPECT_FALSE(stopping.ShouldStop());
  EXPECT_TRUE(stopping.Add(0.485, 0.02));
  EXPECT_EQ(stopping.best_epoch(), 4);
  EXPECT_TRUE(stopping.ShouldStop());
}

TEST(EarlyStoppingTest, PatienceZeroNeverStops) {
  EarlyStopping stopping(0);
  stopping.Add(1);
  for (int i = 0; i < 100; ++i) stopping.Add(0);
  EXPECT_FALSE(stopping.ShouldStop());
}

}  // namespace
}  // namespace semrank
