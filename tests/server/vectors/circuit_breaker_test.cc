#include "server/vectors/circuit_breaker.h"

#include <gtest/gtest.h>

namespace semrank {
namespace {

using std::chrono::seconds;

class CircuitBreakerTest : public ::testing::Test {
 protected:
  CircuitBreakerTest() { now_ += seconds(100); }
  // How long the breaker is open after a failure now.
  auto WaitAfterFailure() {
    EXPECT_TRUE(breaker_.Failed(now_));
    return breaker_.next_trial() - now_;
  }

  CircuitBreaker::Clock::time_point now_;
  CircuitBreaker breaker_{{.min_wait = seconds(1), .max_wait = seconds(6)}};
};

TEST_F(CircuitBreakerTest, OneFailureOpensItAndTheOthersUnderWayChangeNothing) {
  EXPECT_TRUE(breaker_.is_closed());
  EXPECT_EQ(WaitAfterFailure(), seconds(1));
  EXPECT_FALSE(breaker_.is_closed());
  EXPECT_FALSE(breaker_.Failed(now_ + seconds(5)));
  EXPECT_EQ(breaker_.next_trial() - now_, seconds(1));
}

TEST_F(CircuitBreakerTest, EachFailedTrialDoublesTheWaitUpToTheLimit) {
  WaitAfterFailure();
  for (const int want : {2, 4, 6, 6}) {
    breaker_.TrialFailed(now_);
    EXPECT_EQ(breaker_.next_trial() - now_, seconds(want));
  }
}

TEST_F(CircuitBreakerTest, WhatFailsAgainSoonIsLeftAloneForLonger) {
  WaitAfterFailure();
  breaker_.TrialSucceeded(now_);
  EXPECT_TRUE(breaker_.is_closed());
  now_ += seconds(6);
  EXPECT_EQ(WaitAfterFailure(), seconds(2));
  breaker_.TrialSucceeded(now_);
  now_ += seconds(7);
  EXPECT_EQ(WaitAfterFailure(), seconds(1));
}

}  // namespace
}  // namespace semrank
