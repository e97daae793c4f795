#include "model/base/thread_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <vector>

namespace semrank {
namespace {

using ::testing::Each;

class ThreadPoolTest : public ::testing::TestWithParam<int> {
 protected:
  ThreadPool pool_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolTest,
                         ::testing::Values(-1, 1, 2, 3, 8));

TEST_P(ThreadPoolTest, RunsEachPieceExactlyOnceInEveryRound) {
  constexpr int kPieces = 100;
  constexpr int kRounds = 50;
  std::vector<std::atomic<int>> runs(kPieces);
  for (int round = 1; round <= kRounds; ++round) {
    pool_.ParallelFor(kPieces, [&](int piece, int) { ++runs[piece]; });
    ASSERT_THAT(std::vector<int>(runs.begin(), runs.end()), Each(round));
  }
}

TEST_P(ThreadPoolTest, WorkersHaveScratchMemoryOfTheirOwn) {
  constexpr int kPieces = 1000;
  // Not atomic: the sanitizer would see two threads under one number.
  std::vector<int> sums(pool_.num_threads());
  pool_.ParallelFor(kPieces,
                    [&](int piece, int worker) { sums.at(worker) += piece; });
  EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), 0),
            kPieces * (kPieces - 1) / 2);
}

TEST_P(ThreadPoolTest, ResultsOfPiecesDoNotDependOnTheNumberOfThreads) {
  constexpr int kPieces = 17;
  std::vector<float> sums(kPieces);
  pool_.ParallelFor(kPieces, [&](int piece, int) {
    for (int i = piece; i < 1000; i += kPieces) sums[piece] += 1.0f / (1 + i);
  });
  std::vector<float> want(kPieces);
  for (int i = 0; i < 1000; ++i) want[i % kPieces] += 1.0f / (1 + i);
  EXPECT_EQ(sums, want);
}

TEST_P(ThreadPoolTest, ChangesOfPiecesAreSeenByTheCaller) {
  for (int pieces = 0; pieces < 20; ++pieces) {
    std::vector<int> values(pieces, 0);
    pool_.ParallelFor(pieces, [&](int piece, int) { values[piece] = 7; });
    EXPECT_THAT(values, Each(7));
  }
}

TEST(ThreadPoolSizeTest, CountsTheCallerAndTakesTooFewAsOne) {
  EXPECT_EQ(ThreadPool(-3).num_threads(), 1);
  EXPECT_EQ(ThreadPool(0).num_threads(), 1);
  EXPECT_EQ(ThreadPool(4).num_threads(), 4);
}

TEST(ThreadPoolSizeTest, ZeroOrFewerPiecesAreNoWork) {
  ThreadPool pool(2);
  pool.ParallelFor(0, [](int, int) { FAIL(); });
  pool.ParallelFor(-1, [](int, int) { FAIL(); });
}

TEST(NumUsableProcessorsTest, IsAtLeastOne) {
  EXPECT_GE(NumUsableProcessors(), 1);
}

}  // namespace
}  // namespace semrank
