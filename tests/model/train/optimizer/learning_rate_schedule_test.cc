#include "model/train/optimizer/learning_rate_schedule.h"

#include <gtest/gtest.h>

namespace semrank {
namespace {

constexpr auto kNone = v1::LEARNING_RATE_DECAY_NONE;
constexpr auto kLinear = v1::LEARNING_RATE_DECAY_LINEAR;

LearningRateSchedule Schedule(int warmup_batches, v1::LearningRateDecay decay,
                              std::int64_t total_batches) {
  return LearningRateSchedule(
      {.learning_rate = 8, .warmup_batches = warmup_batches, .decay = decay},
      total_batches);
}

TEST(LearningRateScheduleTest, WithoutWarmupAndDecayTheRateStays) {
  for (const std::int64_t batch : {0, 1, 99}) {
    EXPECT_EQ(Schedule(0, kNone, 100).Rate(batch), 8);
  }
}

TEST(LearningRateScheduleTest, WarmupRisesInAStraightLine) {
  const LearningRateSchedule schedule = Schedule(3, kNone, 100);
  EXPECT_EQ(schedule.Rate(0), 2);
  EXPECT_EQ(schedule.Rate(1), 4);
  EXPECT_EQ(schedule.Rate(2), 6);
  EXPECT_EQ(schedule.Rate(3), 8);
  EXPECT_EQ(schedule.Rate(99), 8);
}

TEST(LearningRateScheduleTest, LinearDecayWouldReachZeroAfterTheLastBatch) {
  const LearningRateSchedule schedule = Schedule(0, kLinear, 4);
  EXPECT_EQ(schedule.Rate(0), 8);
  EXPECT_EQ(schedule.Rate(1), 6);
  EXPECT_EQ(schedule.Rate(2), 4);
  EXPECT_EQ(schedule.Rate(3), 2);
}

TEST(LearningRateScheduleTest, DecayBeginsAfterTheWarmup) {
  const LearningRateSchedule schedule = Schedule(1, kLinear, 5);
  EXPECT_EQ(schedule.Rate(0), 4);
  EXPECT_EQ(schedule.Rate(1), 8);
  EXPECT_EQ(schedule.Rate(2), 6);
  EXPECT_EQ(schedule.Rate(4), 2);
}

TEST(LearningRateScheduleTest, WarmupLongerThanTheRunStaysBelowTheRate) {
  const LearningRateSchedule schedule = Schedule(10, kLinear, 5);
  EXPECT_LT(schedule.Rate(4), 8);
  EXPECT_GT(schedule.Rate(0), 0);
}

}  // namespace
}  // namespace semrank
