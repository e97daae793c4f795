#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "model/train/optimizer/parameter_optimizer.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::Lt;

constexpr auto kNone = v1::LEARNING_RATE_DECAY_NONE;
constexpr auto kLinear = v1::LEARNING_RATE_DECAY_LINEAR;
constexpr auto kCosine = v1::LEARNING_RATE_DECAY_COSINE;

// The rates of all batches, with a full rate of 8.
std::vector<double> Rates(int warmup_batches, v1::LearningRateDecay decay,
                          std::int64_t total_batches) {
  std::vector<double> rates;
  for (std::int64_t batch = 0; batch < total_batches; ++batch) {
    rates.push_back(LearningRate(
        {.learning_rate = 8, .warmup_batches = warmup_batches, .decay = decay},
        batch, total_batches));
  }
  return rates;
}

TEST(LearningRateTest, WithoutWarmupAndDecayTheRateStays) {
  EXPECT_THAT(Rates(0, kNone, 4), ElementsAre(8, 8, 8, 8));
}

TEST(LearningRateTest, WarmupRisesInAStraightLine) {
  EXPECT_THAT(Rates(3, kNone, 6), ElementsAre(2, 4, 6, 8, 8, 8));
}

TEST(LearningRateTest, LinearDecayWouldReachZeroAfterTheLastBatch) {
  EXPECT_THAT(Rates(0, kLinear, 4), ElementsAre(8, 6, 4, 2));
}

// 0.16 at the end: 2 % of 8.
TEST(LearningRateTest, CosineFallsAlongHalfAWaveToTwoPercent) {
  EXPECT_THAT(Rates(0, kCosine, 4),
              ElementsAre(8, DoubleNear(0.16 + 7.84 * 0.8535533906, 1e-9),
                          DoubleNear(0.16 + 7.84 * 0.5, 1e-9),
                          DoubleNear(0.16 + 7.84 * 0.1464466094, 1e-9)));
  EXPECT_NEAR(Rates(0, kCosine, 1000).back(), 0.16, 1e-4);
}

TEST(LearningRateTest, DecayBeginsAfterTheWarmup) {
  EXPECT_THAT(Rates(1, kLinear, 5), ElementsAre(4, 8, 6, 4, 2));
  EXPECT_THAT(Rates(1, kCosine, 3),
              ElementsAre(4, 8, DoubleNear(0.16 + 7.84 * 0.5, 1e-9)));
}

TEST(LearningRateTest, WarmupLongerThanTheRunStaysBelowTheRate) {
  EXPECT_THAT(Rates(10, kLinear, 5), Each(AllOf(Gt(0), Lt(8))));
}

}  // namespace
}  // namespace semrank
