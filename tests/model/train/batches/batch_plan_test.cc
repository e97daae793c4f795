#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "model/train/batches/mini_batch.h"

namespace semrank {
namespace {

class BatchPlanTest : public ::testing::TestWithParam<std::pair<int, int>> {};

TEST_P(BatchPlanTest, CutsAllPairsIntoNearlyEqualBatches) {
  const auto [num_pairs, batch_size] = GetParam();
  std::vector<int> pairs(num_pairs), seen;
  std::iota(pairs.begin(), pairs.end(), 0);
  const BatchPlan plan(num_pairs, batch_size);
  std::size_t smallest = batch_size, largest = 0;
  for (std::int64_t b = 0; b < plan.num_batches(); ++b) {
    const std::span<const int> batch = plan.Batch<int>(pairs, b);
    smallest = std::min(smallest, batch.size());
    largest = std::max(largest, batch.size());
    seen.insert(seen.end(), batch.begin(), batch.end());
  }
  EXPECT_EQ(seen, pairs);
  EXPECT_LE(largest, static_cast<std::size_t>(batch_size));
  EXPECT_LE(largest - smallest, 1u);
}

INSTANTIATE_TEST_SUITE_P(Sizes, BatchPlanTest,
                         ::testing::Values(std::pair(1, 2), std::pair(10, 10),
                                           std::pair(11, 10),
                                           std::pair(26569, 1024),
                                           std::pair(100, 7)));

TEST(BatchPlanTest, NoPairsMakeNoBatches) {
  EXPECT_EQ(BatchPlan(0, 1024).num_batches(), 0);
}

}  // namespace
}  // namespace semrank
