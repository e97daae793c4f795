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

TEST_P(ThreadPoolTest, RunsEachTaskExactlyOnceInEveryRound) {
  constexpr int kTasks = 100;
  constexpr int kRounds = 50;
  std::vector<std::atomic<int>> runs(kTasks);
  for (int round = 1; round <= kRounds; ++round) {
    pool_.ParallelFor(kTasks, [&](int task, int) { ++runs[task]; });
    ASSERT_THAT(std::vector<int>(runs.begin(), runs.end()), Each(round));
  }
}

TEST_P(ThreadPoolTest, WorkersHaveScratchMemoryOfTheirOwn) {
  constexpr int kTasks = 1000;
  // Not atomic: the sanitizer would see two threads under one number.
  std::vector<int> sums(pool_.num_threads());
  pool_.ParallelFor(kTasks,
                    [&](int task, int worker) { sums.at(worker) += task; });
  EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), 0),
            kTasks * (kTasks - 1) / 2);
}

TEST_P(ThreadPoolTest, ResultsOfTasksDoNotDependOnTheNumberOfThreads) {
  constexpr int kTasks = 17;
  std::vector<float> sums(kTasks);
  pool_.ParallelFor(kTasks, [&](int task, int) {
    for (int i = task; i < 1000; i += kTasks) sums[task] += 1.0f / (1 + i);
  });
  std::vector<float> want(kTasks);
  for (int i = 0; i < 1000; ++i) want[i % kTasks] += 1.0f / (1 + i);
  EXPECT_EQ(sums, want);
}

TEST_P(ThreadPoolTest, ChangesOfTasksAreSeenByTheCaller) {
  for (int tasks = 0; tasks < 20; ++tasks) {
    std::vector<int> values(tasks, 0);
    pool_.ParallelFor(tasks, [&](int task, int) { values[task] = 7; });
    EXPECT_THAT(values, Each(7));
  }
}

TEST(ThreadPoolSizeTest, CountsTheCallerAndTakesTooFewAsOne) {
  EXPECT_EQ(ThreadPool(-3).num_threads(), 1);
  EXPECT_EQ(ThreadPool(0).num_threads(), 1);
  EXPECT_EQ(ThreadPool(4).num_threads(), 4);
}

TEST(ThreadPoolSizeTest, ZeroOrFewerTasksAreNoWork) {
  ThreadPool pool(2);
  pool.ParallelFor(0, [](int, int) { FAIL(); });
  pool.ParallelFor(-1, [](int, int) { FAIL(); });
}

TEST(NumUsableProcessorsTest, IsAtLeastOne) {
  EXPECT_GE(NumUsableProcessors(), 1);
}

}  // namespace
}  // namespace semrank
