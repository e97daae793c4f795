#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "model/train/optimizer/gradient_set.h"

namespace semrank {
namespace {

// More values than a block of work has, none of them simple.
std::vector<float> Values(int count, float scale) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) {
    values.push_back(scale * std::sin(static_cast<float>(i)));
  }
  return values;
}

struct Gradients {
  std::vector<float> dense = Values(40003, 0.01f);
  RowGradients rows = {.width = 3, .rows = {7, 2}, .values = Values(6, 2)};

  GradientSet Set() { return {.dense = {dense}, .sparse = {&rows}}; }
  double Norm() {
    double sum = 0;
    for (const std::span<float> values : Set().Values()) {
      for (const double value : values) sum += value * value;
    }
    return std::sqrt(sum);
  }
};

TEST(GradientClippingTest, ShortGradientIsLeftAlone) {
  Gradients gradients, before;
  ThreadPool pool(1);
  const double norm = ClipGradients(100, gradients.Set(), pool);
  // Sums of 40,000 squares in double precision, in another order.
  EXPECT_NEAR(norm, before.Norm(), 1e-10);
  EXPECT_EQ(gradients.dense, before.dense);
  EXPECT_EQ(gradients.rows.values, before.rows.values);
}

TEST(GradientClippingTest, LongGradientIsScaledToTheLimitAsAWhole) {
  Gradients gradients, before;
  ThreadPool pool(1);
  ClipGradients(0.5, gradients.Set(), pool);
  EXPECT_NEAR(gradients.Norm(), 0.5, 1e-6);
  const float factor = gradients.dense[1] / before.dense[1];
  // Each rounded to single precision.
  EXPECT_NEAR(gradients.dense[40002], factor * before.dense[40002], 1e-8);
  EXPECT_NEAR(gradients.rows.values[5], factor * before.rows.values[5], 1e-6);
}

TEST(GradientClippingTest, ThreadsDoNotChangeABit) {
  Gradients one, three;
  ThreadPool pool_of_one(1), pool_of_three(3);
  EXPECT_EQ(ClipGradients(0.5, one.Set(), pool_of_one),
            ClipGradients(0.5, three.Set(), pool_of_three));
  EXPECT_EQ(one.dense, three.dense);
  EXPECT_EQ(one.rows.values, three.rows.values);
}

TEST(GradientClippingTest, InfiniteGradientIsNotHidden) {
  Gradients gradients;
  gradients.dense[9] = std::numeric_limits<float>::infinity();
  ThreadPool pool(1);
  ClipGradients(0.5, gradients.Set(), pool);
  EXPECT_TRUE(std::isinf(gradients.dense[9]));
}

}  // namespace
}  // namespace semrank
