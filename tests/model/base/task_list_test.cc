#include "model/base/task_list.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "model/base/thread_pool.h"

namespace semrank {
namespace {

class TaskListTest : public ::testing::TestWithParam<int> {
 protected:
  TaskListTest() : pool_(GetParam()) {}
  ThreadPool pool_;
  TaskList work_;
};

TEST_P(TaskListTest, RunsEveryTaskOfEveryKindOnce) {
  std::vector<std::atomic<int>> first(5), second(3);
  work_.Add(5, [&](int task, int) { ++first[task]; });
  work_.Add(0, [&](int, int) { FAIL(); });
  work_.Add(3, [&](int task, int) { ++second[task]; });
  pool_.Run(work_);
  for (const std::atomic<int>& calls : first) EXPECT_EQ(calls, 1);
  for (const std::atomic<int>& calls : second) EXPECT_EQ(calls, 1);
}

TEST_P(TaskListTest, BlocksCoverTheRange) {
  std::vector<std::atomic<int>> seen(10);
  work_.AddBlocks(10, 4, [&](int begin, int end, int worker) {
    EXPECT_LE(end - begin, 4);
    EXPECT_LT(worker, GetParam());
    for (int i = begin; i < end; ++i) ++seen[i];
  });
  work_.AddBlocks(0, 4, [&](int, int, int) { FAIL(); });
  pool_.Run(work_);
  for (const std::atomic<int>& calls : seen) EXPECT_EQ(calls, 1);
}

TEST_P(TaskListTest, IsEmptyAfterARun) {
  std::atomic<int> calls = 0;
  work_.Add(2, [&](int, int) { ++calls; });
  pool_.Run(work_);
  pool_.Run(work_);
  EXPECT_EQ(calls, 2);
}

INSTANTIATE_TEST_SUITE_P(Threads, TaskListTest, ::testing::Values(1, 3));

}  // namespace
}  // namespace semrank
