#include "server/base/recent_calls.h"

#include <gtest/gtest.h>

namespace semrank {
namespace {

class RecentCallsTest : public ::testing::Test {
 protected:
  void Call(int count, absl::Duration time,
            absl::StatusCode code = absl::StatusCode::kOk) {
    for (int i = 0; i < count; ++i) rpc_.Handled(code, time);
  }
  // Samples as the server does, up to `end` after the start.
  void RunUntil(absl::Duration end) {
    while (now_ < start_ + end) {
      now_ += RecentCalls::kInterval;
      recent_.Sample(now_);
    }
  }
  RecentCalls::Window Window(int number) const {
    const auto report = recent_.Report(now_);
    return report.empty() ? RecentCalls::Window() : report[0].windows[number];
  }

  Metrics metrics_;
  const Metrics::Rpc rpc_ = metrics_.AddRpc("S", "Rank", "unary");
  const absl::Time start_ = absl::FromUnixSeconds(1'000'000);
  absl::Time now_ = start_;
  RecentCalls recent_{&metrics_, start_};
};

TEST_F(RecentCallsTest, RatesAndQuantilesAreThoseOfEachWindow) {
  RunUntil(absl::Minutes(10));
  Call(600, absl::Milliseconds(1.5));
  RunUntil(absl::Minutes(12));
  Call(90, absl::Microseconds(200));
  Call(30, absl::Milliseconds(9), absl::StatusCode::kNotFound);
  RunUntil(absl::Minutes(13));
  EXPECT_DOUBLE_EQ(Window(0).calls_per_second, 2);
  EXPECT_DOUBLE_EQ(Window(0).failed_share, 0.25);
  EXPECT_GT(Window(0).p50, absl::Microseconds(100));  // a bucket to 300 us
  EXPECT_LT(Window(0).p50, absl::Microseconds(300));
  EXPECT_GT(Window(0).p99, absl::Milliseconds(8));  // and one to 10 ms
  EXPECT_LE(Window(0).p99, absl::Milliseconds(10));
  EXPECT_EQ(Window(1).num_calls, 720u);
  EXPECT_GT(Window(1).p50, absl::Milliseconds(1));
}

TEST_F(RecentCallsTest, WhatIsOlderThanTheLongestWindowIsForgotten) {
  Call(10, absl::Milliseconds(1));
  RunUntil(absl::Minutes(6));
  EXPECT_TRUE(recent_.Report(now_).empty());
}

TEST_F(RecentCallsTest, YoungServerCountsFromItsStart) {
  Call(10, absl::Seconds(200));
  now_ += absl::Seconds(5);
  EXPECT_DOUBLE_EQ(Window(0).calls_per_second, 2);
  EXPECT_EQ(Window(1).p99, absl::Seconds(100));  // the last bound
}

}  // namespace
}  // namespace semrank
