#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "model/train/towers/training_kernels.h"

namespace semrank {
namespace {

TEST(ExpTest, IsWithinTheStatedErrorOverTheWholeRange) {
  std::vector<float> values, powers;
  for (float x = 0; x > -87; x -= 0.003f) values.push_back(x);
  powers = values;
  ExpNonPositive(powers);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double exact = std::exp(static_cast<double>(values[i]));
    ASSERT_NEAR(powers[i], exact, 2e-7 * exact) << "x = " << values[i];
  }
}

TEST(ExpTest, IsZeroFarBelow) {
  std::vector<float> values = {-87.5f, -1000, kLeftOut};
  ExpNonPositive(values);
  EXPECT_EQ(values, std::vector<float>(3, 0));
}

// A run whose weights have outgrown single precision is found by its loss.
TEST(ExpTest, OfNaNIsNaN) {
  std::vector<float> values(20, std::numeric_limits<float>::quiet_NaN());
  ExpNonPositive(values);
  for (const float value : values) EXPECT_TRUE(std::isnan(value));
}

struct SoftmaxCase {
  std::string name;
  float positive;
  std::vector<float> negatives;
};

class SoftmaxTest : public ::testing::TestWithParam<SoftmaxCase> {};

// Straight from eq. 6 and 9.
TEST_P(SoftmaxTest, AgreesWithTheFormula) {
  const auto& [name, positive, logits] = GetParam();
  double total = std::exp(static_cast<double>(positive));
  for (const float logit : logits) total += std::exp(double{logit});

  std::vector<float> negatives = logits;
  const SoftmaxResult result = SoftmaxNegatives(positive, negatives);
  EXPECT_NEAR(result.loss, std::log(total) - positive, 1e-6);
  double sum = 0;
  for (std::size_t k = 0; k < logits.size(); ++k) {
    const double want = std::exp(double{logits[k]}) / total;
    EXPECT_NEAR(negatives[k], want, 1e-6 * want + 1e-12);
    sum += want;
  }
  EXPECT_NEAR(result.negative_probability, sum, 1e-6 * sum);
}

std::vector<float> ManyLogits() {
  std::vector<float> logits;
  for (int i = 0; i < 1023; ++i) {
    logits.push_back(20 * std::sin(static_cast<float>(i)));
  }
  return logits;
}

INSTANTIATE_TEST_SUITE_P(
    Cases, SoftmaxTest,
    ::testing::Values(SoftmaxCase{"One", 1, {-1}},
                      SoftmaxCase{"Four", 3.5f, {-10, 2, 3.4f, 0}},
                      SoftmaxCase{"PositiveLowest", -20, {20, 19, 18}},
                      SoftmaxCase{"PositiveHighest", 20, {-20, -20}},
                      SoftmaxCase{"Many", 5, ManyLogits()}),
    [](const auto& tested) { return tested.param.name; });

TEST(SoftmaxNegativesTest, WhatIsLeftOutHasProbabilityZero) {
  std::vector<float> negatives = {kLeftOut, 1.0f, kLeftOut};
  const SoftmaxResult result = SoftmaxNegatives(1.0f, negatives);
  EXPECT_EQ(negatives, (std::vector<float>{0, 0.5f, 0}));
  EXPECT_NEAR(result.loss, std::log(2.0), 1e-7);
}

TEST(SoftmaxNegativesTest, WithoutNegativesTheLossIsZero) {
  std::vector<float> negatives = {kLeftOut, kLeftOut};
  EXPECT_EQ(SoftmaxNegatives(-3.0f, negatives).loss, 0);
  EXPECT_EQ(SoftmaxNegatives(-3.0f, {}).loss, 0);
  EXPECT_EQ(SoftmaxNegatives(-3.0f, {}).negative_probability, 0);
}

// exp(-1000) underflows; the loss must not become infinite.
TEST(SoftmaxNegativesTest, LargeGammaGivesFiniteLoss) {
  std::vector<float> negatives = {1000};
  EXPECT_NEAR(SoftmaxNegatives(-1000, negatives).loss, 2000, 1e-3);
}

}  // namespace
}  // namespace semrank
