#include "model/data/shard.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace semrank {
namespace {

TEST(ShardTest, ShardsPartitionTheLines) {
  constexpr std::int64_t kCount = 3;
  for (std::int64_t num_lines = 0; num_lines < 10; ++num_lines) {
    std::int64_t all = 0;
    for (std::int64_t number = 1; number <= kCount; ++number) {
      const Shard shard{.number = number, .count = kCount};
      std::int64_t mine = 0;
      for (std::int64_t line = 1; line <= num_lines; ++line) {
        mine += shard.Contains(line) ? 1 : 0;
      }
      EXPECT_EQ(shard.NumLines(num_lines), mine) << number << ' ' << num_lines;
      all += mine;
    }
    EXPECT_EQ(all, num_lines);
  }
}

TEST(ShardTest, ParsesOnlyNumbersInRange) {
  const auto shard = ParseShard("2/8");
  ASSERT_TRUE(shard.has_value());
  EXPECT_EQ(FormatShard(*shard), "2/8");
  for (const char* text : {"", "/", "1", "0/4", "5/4", "-1/4", "1/0", "1/4x",
                           "1 /4", "1/99999999999999999999"}) {
    EXPECT_FALSE(ParseShard(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace semrank
