#include "model/base/memory.h"

#include <gtest/gtest.h>

#include <string>

namespace semrank {
namespace {

TEST(MemoryTest, ResidentMemoryGrowsWithWhatTheProcessWrites) {
  const std::int64_t before = ResidentMemory();
  EXPECT_GT(before, 1 << 20);
  const std::string block(32 << 20, 'x');
  EXPECT_GT(ResidentMemory(), before + (24 << 20));
  EXPECT_GE(PeakResidentMemory(), ResidentMemory());
  EXPECT_LT(ResidentMemory(), PhysicalMemory());
  EXPECT_EQ(block.back(), 'x');
}

}  // namespace
}  // namespace semrank
