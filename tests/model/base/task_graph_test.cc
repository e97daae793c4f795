#include "model/base/task_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "model/base/thread_pool.h"

namespace semrank {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

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

TaskGraph::AddTasks Tasks(int count) {
  return [count](TaskList& work) { work.Add(count, [](int, int) {}); };
}

// (stage, task) of all that can be taken before anything finishes.
std::vector<TaskSchedule::Task> TakeAll(TaskSchedule& schedule) {
  std::vector<TaskSchedule::Task> tasks;
  while (const auto task = schedule.Take()) tasks.push_back(*task);
  return tasks;
}

std::vector<int> StagesOf(const std::vector<TaskSchedule::Task>& tasks) {
  std::vector<int> stages;
  for (const TaskSchedule::Task& task : tasks) stages.push_back(task.stage);
  return stages;
}

TEST(TaskScheduleTest, StagesWaitForWhatTheyNeedAndForNothingElse) {
  TaskGraph graph;
  const auto first = graph.Add({}, Tasks(2));
  const auto second = graph.Add({first}, Tasks(1));
  graph.Add({}, Tasks(1));
  graph.Add({first, second}, Tasks(1));
  TaskSchedule schedule(graph);
  const std::vector<TaskSchedule::Task> tasks = TakeAll(schedule);
  ASSERT_THAT(StagesOf(tasks), ElementsAre(0, 0, 2));
  EXPECT_FALSE(schedule.HasTask());
  schedule.Finish(tasks[0]);
  EXPECT_THAT(TakeAll(schedule), IsEmpty()) << "a task of 0 still runs";
  schedule.Finish(tasks[1]);
  EXPECT_TRUE(schedule.HasTask());
  const std::vector<TaskSchedule::Task> next = TakeAll(schedule);
  ASSERT_THAT(StagesOf(next), ElementsAre(1));
  schedule.Finish(next[0]);
  const std::vector<TaskSchedule::Task> last = TakeAll(schedule);
  ASSERT_THAT(StagesOf(last), ElementsAre(3));
  schedule.Finish(last[0]);
  EXPECT_FALSE(schedule.ended()) << "a task of 2 still runs";
  schedule.Finish(tasks[2]);
  EXPECT_TRUE(schedule.ended());
}

TEST(TaskScheduleTest, AStageAddsItsTasksWhenItBegins) {
  int count = 0;
  TaskGraph graph;
  const auto first = graph.Add({}, Tasks(1));
  graph.Add({first},
            [&count](TaskList& work) { work.Add(count, [](int, int) {}); });
  TaskSchedule schedule(graph);
  const std::vector<TaskSchedule::Task> tasks = TakeAll(schedule);
  count = 3;
  schedule.Finish(tasks[0]);
  EXPECT_THAT(StagesOf(TakeAll(schedule)), ElementsAre(1, 1, 1));
}

TEST(TaskScheduleTest, EmptyStagesEndAtOnce) {
  TaskGraph graph;
  const auto first = graph.Add({}, Tasks(0));
  const auto second = graph.Add({first}, Tasks(0));
  graph.Add({second}, Tasks(1));
  graph.Add({}, Tasks(0));
  TaskSchedule schedule(graph);
  const std::vector<TaskSchedule::Task> tasks = TakeAll(schedule);
  ASSERT_THAT(StagesOf(tasks), ElementsAre(2));
  schedule.Finish(tasks[0]);
  EXPECT_TRUE(schedule.ended());
  EXPECT_TRUE(TaskSchedule(TaskGraph()).ended());
}

class RunGraphTest : public ::testing::TestWithParam<int> {
 protected:
  ThreadPool pool_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Threads, RunGraphTest, ::testing::Values(1, 2, 3, 8));

// Not atomic: the sanitizer would see a stage that runs beside one it needs.
TEST_P(RunGraphTest, TasksSeeAllThatTheStagesTheyNeedWrote) {
  constexpr int kTasks = 7;
  constexpr int kStages = 200;
  std::vector<std::vector<int>> values(kStages + 1,
                                       std::vector<int>(kTasks, 0));
  TaskGraph graph;
  TaskGraph::Stages needs;
  for (int s = 0; s < kStages; ++s) {
    needs = {graph.Add(needs, [&values, s](TaskList& work) {
      work.Add(kTasks, [&values, s](int task, int) {
        values[s + 1][task] = 1 + *std::ranges::min_element(values[s]);
      });
    })};
  }
  for (int round = 0; round < 2; ++round) {
    pool_.Run(graph);
    EXPECT_THAT(values.back(), Each(kStages));
    for (std::vector<int>& stage : values) std::ranges::fill(stage, 0);
  }
}

TEST_P(RunGraphTest, IndependentStagesAllRun) {
  std::vector<int> calls(30, 0);
  TaskGraph graph;
  for (int& count : calls) {
    graph.Add({}, [&count](TaskList& work) {
      work.Add(1, [&count](int, int) { ++count; });
    });
  }
  pool_.Run(graph);
  EXPECT_THAT(calls, Each(1));
  pool_.Run(TaskGraph());
}

}  // namespace
}  // namespace semrank
