#include "model/text/index_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(IndexSetTest, SortsAndCountsFromBeginOn) {
  IndexSet set;
  set.GrowTo(10);
  std::vector<std::uint32_t> indices = {9, 9, 4, 0, 4, 9};
  std::vector<float> counts = {7, 7};
  set.SortAndCount(2, indices, counts);
  EXPECT_THAT(indices, ElementsAre(9, 9, 0, 4, 9));
  EXPECT_THAT(counts, ElementsAre(7, 7, 1, 2, 1));
}

TEST(IndexSetTest, NothingGivesNothing) {
  IndexSet set;
  set.GrowTo(1);
  std::vector<std::uint32_t> indices;
  std::vector<float> counts;
  set.SortAndCount(0, indices, counts);
  EXPECT_THAT(indices, IsEmpty());
  EXPECT_THAT(counts, IsEmpty());
}

// Sizes about the borders of its words and of their summary.
TEST(IndexSetTest, AgreesWithAMap) {
  std::mt19937 random(9);
  IndexSet set;
  for (const std::uint32_t size : {1, 63, 64, 65, 4095, 4096, 4097, 300000}) {
    set.GrowTo(size);
    for (int i = 0; i < 100; ++i) {
      std::vector<std::uint32_t> indices = {size - 1};
      for (int k = 0; k < i; ++k) indices.push_back(random() % size);
      std::map<std::uint32_t, float> want;
      for (const std::uint32_t index : indices) ++want[index];
      std::vector<float> counts;
      set.SortAndCount(0, indices, counts);
      ASSERT_EQ(indices.size(), want.size());
      std::size_t k = 0;
      for (const auto& [index, count] : want) {
        ASSERT_EQ(indices[k], index);
        ASSERT_EQ(counts[k], count);
        ++k;
      }
    }
  }
}

}  // namespace
}  // namespace semrank
