#include "server/state_metrics.h"

#include <gtest/gtest.h>

namespace semrank {
namespace {

TEST(ProcessMetricsTest, ThisProcessHasMemoryThreadsAndFiles) {
  const ProcessStats stats = ReadProcessStats();
  EXPECT_GT(stats.resident_bytes, 0);
  EXPECT_GE(stats.threads, 1);
  EXPECT_GE(stats.open_fds, 3);
  EXPECT_GE(stats.max_fds, stats.open_fds);
  // Later than the year 2020.
  EXPECT_GT(stats.start_time_seconds, 1577836800);
}

TEST(ProcessMetricsTest, ANameWithBlanksAndParenthesesDoesNotShiftTheFields) {
  EXPECT_EQ(StatFieldsAfterName("12 (a ) b) S 1 2"), " S 1 2");
  EXPECT_EQ(StatFieldsAfterName("garbage"), "");
}

}  // namespace
}  // namespace semrank
