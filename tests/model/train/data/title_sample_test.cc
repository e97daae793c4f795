#include <gtest/gtest.h>

#include <string>

#include "model/train/data/memory_budget.h"
#include "model/train/data/streamed_data.h"

namespace semrank {
namespace {

TEST(TitleSampleTest, KeepsAllThatFits) {
  TitleSample sample(3, 1 << 20);
  for (const std::uint64_t hash : {7, 5, 7, 9}) sample.Add(hash, "a title");
  EXPECT_EQ(sample.titles().size(), 3u);
  EXPECT_TRUE(sample.complete());
  sample.Add(9, "a title");
  EXPECT_TRUE(sample.complete());
  sample.Add(6, "another");
  EXPECT_EQ(sample.titles().rbegin()->first, 7u);
  EXPECT_FALSE(sample.complete());
}

// Two titles in three are long, before and after there is no more room.
TEST(TitleSampleTest, LengthDoesNotDecideWhoIsIn) {
  constexpr std::int64_t kBytes = 400'000;
  const TextHash hash(1);
  const auto title = [](int i) {
    return std::to_string(i) + std::string(i % 3 == 0 ? 0 : 100, 'x');
  };
  TitleSample sample(1 << 20, kBytes);
  for (int i = 0; i < 20'000; ++i) sample.Add(hash(title(i)), title(i));
  std::int64_t bytes = 0;
  double num_long = 0;
  for (const auto& [number, text] : sample.titles()) {
    bytes += KeptTextBytes(text.size());
    num_long += text.size() > 100 ? 1 : 0;
  }
  EXPECT_LE(bytes, kBytes);
  EXPECT_GT(bytes, kBytes - 2 * KeptTextBytes(105));
  // About 560 titles: six standard deviations.
  EXPECT_NEAR(num_long / static_cast<double>(sample.titles().size()), 2.0 / 3,
              0.12);
  // All of the lowest hashes are there.
  const std::uint64_t highest = sample.titles().rbegin()->first;
  std::size_t num_below = 0;
  for (int i = 0; i < 20'000; ++i) num_below += hash(title(i)) <= highest;
  EXPECT_EQ(num_below, sample.titles().size());
}

TEST(TitleSampleTest, KeepsAFewTitlesOfAnyLength) {
  TitleSample sample(1 << 20, /*max_bytes=*/1000);
  for (int i = 0; i < 100; ++i) sample.Add(i, std::string(10'000, 'x'));
  EXPECT_EQ(sample.titles().size(), TitleSample::kMinTitles);
}

}  // namespace
}  // namespace semrank
