#include "model/base/work_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "model/base/thread_pool.h"

namespace semrank {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

WorkGraph::AddWork Pieces(int count) {
  return [count](WorkList& work) { work.Add(count, [](int, int) {}); };
}

// (stage, piece) of all that can be taken before anything finishes.
std::vector<WorkSchedule::Job> TakeAll(WorkSchedule& schedule) {
  std::vector<WorkSchedule::Job> jobs;
  while (const auto job = schedule.Take()) jobs.push_back(*job);
  return jobs;
}

std::vector<int> StagesOf(const std::vector<WorkSchedule::Job>& jobs) {
  std::vector<int> stages;
  for (const WorkSchedule::Job& job : jobs) stages.push_back(job.stage);
  return stages;
}

TEST(WorkScheduleTest, StagesWaitForWhatTheyNeedAndForNothingElse) {
  WorkGraph graph;
  const auto first = graph.Add({}, Pieces(2));
  const auto second = graph.Add({first}, Pieces(1));
  graph.Add({}, Pieces(1));
  graph.Add({first, second}, Pieces(1));
  WorkSchedule schedule(graph);
  const std::vector<WorkSchedule::Job> jobs = TakeAll(schedule);
  ASSERT_THAT(StagesOf(jobs), ElementsAre(0, 0, 2));
  EXPECT_FALSE(schedule.HasWork());
  schedule.Finish(jobs[0]);
  EXPECT_THAT(TakeAll(schedule), IsEmpty()) << "a piece of 0 still runs";
  schedule.Finish(jobs[1]);
  EXPECT_TRUE(schedule.HasWork());
  const std::vector<WorkSchedule::Job> next = TakeAll(schedule);
  ASSERT_THAT(StagesOf(next), ElementsAre(1));
  schedule.Finish(next[0]);
  const std::vector<WorkSchedule::Job> last = TakeAll(schedule);
  ASSERT_THAT(StagesOf(last), ElementsAre(3));
  schedule.Finish(last[0]);
  EXPECT_FALSE(schedule.ended()) << "a piece of 2 still runs";
  schedule.Finish(jobs[2]);
  EXPECT_TRUE(schedule.ended());
}

TEST(WorkScheduleTest, AStageAddsItsPiecesWhenItBegins) {
  int count = 0;
  WorkGraph graph;
  const auto first = graph.Add({}, Pieces(1));
  graph.Add({first},
            [&count](WorkList& work) { work.Add(count, [](int, int) {}); });
  WorkSchedule schedule(graph);
  const std::vector<WorkSchedule::Job> jobs = TakeAll(schedule);
  count = 3;
  schedule.Finish(jobs[0]);
  EXPECT_THAT(StagesOf(TakeAll(schedule)), ElementsAre(1, 1, 1));
}

TEST(WorkScheduleTest, EmptyStagesEndAtOnce) {
  WorkGraph graph;
  const auto first = graph.Add({}, Pieces(0));
  const auto second = graph.Add({first}, Pieces(0));
  graph.Add({second}, Pieces(1));
  graph.Add({}, Pieces(0));
  WorkSchedule schedule(graph);
  const std::vector<WorkSchedule::Job> jobs = TakeAll(schedule);
  ASSERT_THAT(StagesOf(jobs), ElementsAre(2));
  schedule.Finish(jobs[0]);
  EXPECT_TRUE(schedule.ended());
  EXPECT_TRUE(WorkSchedule(WorkGraph()).ended());
}

class RunGraphTest : public ::testing::TestWithParam<int> {
 protected:
  ThreadPool pool_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Threads, RunGraphTest, ::testing::Values(1, 2, 3, 8));

// Not atomic: the sanitizer would see a stage that runs beside one it needs.
TEST_P(RunGraphTest, PiecesSeeAllThatTheStagesTheyNeedWrote) {
  constexpr int kPieces = 7;
  constexpr int kStages = 200;
  std::vector<std::vector<int>> values(kStages + 1,
                                       std::vector<int>(kPieces, 0));
  WorkGraph graph;
  WorkGraph::Stages needs;
  for (int s = 0; s < kStages; ++s) {
    needs = {graph.Add(needs, [&values, s](WorkList& work) {
      work.Add(kPieces, [&values, s](int piece, int) {
        values[s + 1][piece] = 1 + *std::ranges::min_element(values[s]);
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
  WorkGraph graph;
  for (int& count : calls) {
    graph.Add({}, [&count](WorkList& work) {
      work.Add(1, [&count](int, int) { ++count; });
    });
  }
  pool_.Run(graph);
  EXPECT_THAT(calls, Each(1));
  pool_.Run(WorkGraph());
}

}  // namespace
}  // namespace semrank
