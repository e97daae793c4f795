#include "model/train/optimizer/parameter_optimizer.h"

#include <gtest/gtest.h>

#include <cmath>

namespace semrank {
namespace {

constexpr OptimizerOptions kSgd = {v1::OPTIMIZER_SGD};
constexpr OptimizerOptions kAdagrad = {v1::OPTIMIZER_ADAGRAD};
constexpr OptimizerOptions kAdam = {v1::OPTIMIZER_ADAM};

std::vector<float> Gradient(int step, int size) {
  std::vector<float> gradient;
  for (int i = 0; i < size; ++i) {
    gradient.push_back(std::sin(static_cast<float>(step * 7 + i)));
  }
  return gradient;
}

TEST(ParameterOptimizerTest, SgdStepsDownTheGradient) {
  std::vector<float> weights = {1, 2, 3};
  ParameterOptimizer optimizer(kSgd, weights);
  optimizer.BeginStep(0.5);
  optimizer.Update(1, std::vector<float>{4, -2});
  EXPECT_EQ(weights, (std::vector<float>{1, 0, 4}));
}

// Kingma and Ba, algorithm 1, in double precision.
TEST(ParameterOptimizerTest, AdamFollowsThePaper) {
  std::vector<float> weights = {0.5f, -0.25f, 1};
  std::vector<double> want(weights.begin(), weights.end());
  std::vector<double> m(3), v(3);
  ParameterOptimizer optimizer(kAdam, weights);
  for (int step = 1; step <= 50; ++step) {
    const std::vector<float> gradient = Gradient(step, 3);
    optimizer.BeginStep(0.01);
    optimizer.Update(0, gradient);
    for (int i = 0; i < 3; ++i) {
      m[i] = 0.9 * m[i] + 0.1 * gradient[i];
      v[i] = 0.999 * v[i] + 0.001 * gradient[i] * gradient[i];
      want[i] -= 0.01 * (m[i] / (1 - std::pow(0.9, step))) /
                 (std::sqrt(v[i] / (1 - std::pow(0.999, step))) + 1e-8);
    }
  }
  // 50 steps of 0.01, each off by a few units of single precision.
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(weights[i], want[i], 2e-6);
}

// Duchi, Hazan and Singer, eq. 1 with a diagonal matrix, in double precision.
TEST(ParameterOptimizerTest, AdagradFollowsThePaper) {
  std::vector<float> weights = {0.5f, -0.25f, 1};
  std::vector<double> want(weights.begin(), weights.end()), sums(3);
  ParameterOptimizer optimizer(kAdagrad, weights);
  for (int step = 1; step <= 50; ++step) {
    const std::vector<float> gradient = Gradient(step, 3);
    const double rate = 0.1 / step;
    optimizer.BeginStep(rate);
    optimizer.Update(0, gradient);
    for (int i = 0; i < 3; ++i) {
      sums[i] += static_cast<double>(gradient[i]) * gradient[i];
      want[i] -= rate * gradient[i] / (std::sqrt(sums[i]) + 1e-8);
    }
  }
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(weights[i], want[i], 2e-6);
}

TEST(ParameterOptimizerTest, AdagradLeavesUntouchedRowsAlone) {
  std::vector<float> weights(4, 1.0f);
  ParameterOptimizer optimizer(kAdagrad, weights);
  optimizer.BeginStep(0.25);
  optimizer.Update(0, std::vector<float>{2, -3});
  EXPECT_EQ(weights, (std::vector<float>{0.75f, 1.25f, 1, 1}));
  // The first step of a row is as long as the rate, whenever it comes.
  optimizer.BeginStep(0.25);
  optimizer.Update(2, std::vector<float>{7, 7});
  EXPECT_EQ(weights, (std::vector<float>{0.75f, 1.25f, 0.75f, 0.75f}));
}

TEST(ParameterOptimizerTest, ZeroGradientMovesNothing) {
  for (const OptimizerOptions& options : {kSgd, kAdagrad, kAdam}) {
    std::vector<float> weights = {3};
    ParameterOptimizer optimizer(options, weights);
    optimizer.BeginStep(0.5);
    optimizer.Update(0, std::vector<float>{0});
    EXPECT_EQ(weights[0], 3);
  }
}

TEST(ParameterOptimizerTest, AdamLeavesUntouchedRowsAloneButCountsSteps) {
  std::vector<float> weights(4, 1.0f);
  ParameterOptimizer optimizer(kAdam, weights);
  optimizer.BeginStep(0.01);
  optimizer.Update(0, std::vector<float>{1, 1});
  EXPECT_EQ(weights[2], 1);
  EXPECT_EQ(weights[3], 1);
  optimizer.BeginStep(0.01);
  optimizer.Update(2, std::vector<float>{1, 1});
  // First update of these two, in step 2: m' = 0.1 / 0.19, v' = 0.001 / (1 -
  // 0.999^2).
  const double m = 0.1 / (1 - 0.81), v = 0.001 / (1 - 0.998001);
  EXPECT_NEAR(weights[2], 1 - 0.01 * m / std::sqrt(v), 1e-7);
}

TEST(ParameterOptimizerTest, CutsOfTheWorkDoNotChangeABit) {
  for (const OptimizerOptions& options : {kSgd, kAdagrad, kAdam}) {
    constexpr int kSize = 101;
    std::vector<float> whole = Gradient(0, kSize), cut = whole;
    ParameterOptimizer whole_optimizer(options, whole);
    ParameterOptimizer cut_optimizer(options, cut);
    for (int step = 1; step < 5; ++step) {
      const std::vector<float> gradient = Gradient(step, kSize);
      whole_optimizer.BeginStep(0.01);
      whole_optimizer.Update(0, gradient);
      cut_optimizer.BeginStep(0.01);
      for (const auto& [first, last] : {std::pair(37, 101), std::pair(0, 37)}) {
        cut_optimizer.Update(first,
                             std::span(gradient).subspan(first, last - first));
      }
    }
    EXPECT_EQ(whole, cut);
  }
}

}  // namespace
}  // namespace semrank
