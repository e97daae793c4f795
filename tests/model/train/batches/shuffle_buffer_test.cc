#include <gtest/gtest.h>

#include <map>
#include <set>

#include "model/train/batches/shuffled_lines.h"

namespace semrank {
namespace {

TEST(ShuffleBufferTest, NeverHoldsMoreThanItMay) {
  constexpr std::size_t kCapacity = 4000;
  ShuffleBuffer buffer(kCapacity);
  Random random(1, RandomPurpose::kPairOrder);
  std::string line;
  for (std::size_t i = 0; i < 5000; ++i) {
    if (!buffer.Add(std::string(i % 90, 'x'))) buffer.Draw(random, line);
    ASSERT_LE(buffer.bytes(), kCapacity);
  }
  EXPECT_GT(buffer.num_lines(), 20u);
}

TEST(ShuffleBufferTest, TakesOneLineHoweverLong) {
  ShuffleBuffer buffer(100);
  EXPECT_TRUE(buffer.Add(std::string(1000, 'x')));
  EXPECT_FALSE(buffer.Add("y"));
}

TEST(ShuffleBufferTest, EachLineComesOutOnceInAnotherOrder) {
  ShuffleBuffer buffer(1 << 20);
  Random random(1, RandomPurpose::kPairOrder);
  std::vector<std::string> in, out;
  for (int i = 0; i < 300; ++i) {
    in.push_back("line " + std::to_string(i));
    ASSERT_TRUE(buffer.Add(in.back()));
  }
  std::string line;
  while (!buffer.empty()) {
    buffer.Draw(random, line);
    out.push_back(line);
  }
  EXPECT_EQ(buffer.bytes(), 0u);
  EXPECT_NE(in, out);
  EXPECT_EQ(std::set<std::string>(in.begin(), in.end()),
            std::set<std::string>(out.begin(), out.end()));
}

}  // namespace
}  // namespace semrank
