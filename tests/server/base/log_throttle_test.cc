#include "server/base/log_throttle.h"

#include <gtest/gtest.h>

namespace semrank {
namespace {

TEST(LogThrottleTest, LetsSoManyThroughASecondAndCountsTheRest) {
  LogThrottle throttle(2);
  const absl::Time start = absl::UnixEpoch();
  std::int64_t num_dropped = -1;
  EXPECT_TRUE(throttle.Allow(start, num_dropped));
  EXPECT_TRUE(throttle.Allow(start, num_dropped));
  EXPECT_FALSE(throttle.Allow(start, num_dropped));
  EXPECT_FALSE(throttle.Allow(start + absl::Milliseconds(999), num_dropped));
  EXPECT_EQ(num_dropped, 0);
  EXPECT_TRUE(throttle.Allow(start + absl::Seconds(1), num_dropped));
  EXPECT_EQ(num_dropped, 2);
}

}  // namespace
}  // namespace semrank
