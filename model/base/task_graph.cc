#include "model/base/task_graph.h"

#include <algorithm>
#include <utility>

namespace semrank {

void TaskList::Add(int num_tasks, Task task) {
  if (num_tasks <= 0) return;
  entries_.push_back({num_tasks_, std::move(task)});
  num_tasks_ += num_tasks;
}

void TaskList::AddBlocks(
    int count, int block,
    std::function<void(int first, int last, int worker)> range) {
  Add((count + block - 1) / block,
      [count, block, range = std::move(range)](int task, int worker) {
        range(task * block, std::min(count, (task + 1) * block), worker);
      });
}

void TaskList::RunTask(int task, int worker) const {
  // The entry of a task is the last that begins at or before it.
  const auto after = std::upper_bound(
      entries_.begin(), entries_.end(), task,
      [](int value, const Entry& entry) { return value < entry.first_task; });
  const Entry& entry = *(after - 1);
  entry.task(task - entry.first_task, worker);
}

void TaskList::Clear() {
  entries_.clear();
  num_tasks_ = 0;
}

TaskGraph::Stage TaskGraph::Add(Stages needs, AddTasks add_tasks) {
  nodes_.push_back({std::move(needs), std::move(add_tasks)});
  return static_cast<Stage>(nodes_.size()) - 1;
}

TaskSchedule::TaskSchedule(const TaskGraph& graph)
    : graph_(graph), states_(graph.nodes_.size()) {}

bool TaskSchedule::CanBegin(TaskGraph::Stage stage) const {
  return !states_[stage].has_begun &&
         std::ranges::all_of(graph_.nodes_[stage].needs,
                             [this](TaskGraph::Stage needed) {
                               return states_[needed].has_ended();
                             });
}

void TaskSchedule::Begin(TaskGraph::Stage stage) {
  State& state = states_[stage];
  graph_.nodes_[stage].add_tasks(state.tasks);
  state.num_unfinished = state.tasks.num_tasks();
  state.has_begun = true;
}

// The scans below are linear: a training step has about twenty stages, and a
// task takes far longer than a scan.
std::optional<TaskSchedule::Task> TaskSchedule::Take() {
  for (std::size_t s = 0; s < states_.size(); ++s) {
    const auto stage = static_cast<TaskGraph::Stage>(s);
    State& state = states_[s];
    // A stage needs earlier ones only, so any stage that an empty one unblocks
    // comes later in this loop.
    if (CanBegin(stage)) Begin(stage);
    if (state.has_tasks()) return Task{stage, &state.tasks, state.next_task++};
  }
  return std::nullopt;
}

bool TaskSchedule::HasTask() const {
  for (std::size_t s = 0; s < states_.size(); ++s) {
    if (states_[s].has_tasks() || CanBegin(static_cast<TaskGraph::Stage>(s))) {
      return true;
    }
  }
  return false;
}

void TaskSchedule::Finish(const Task& task) {
  --states_[task.stage].num_unfinished;
}

bool TaskSchedule::ended() const {
  return std::ranges::all_of(states_, &State::has_ended);
}

}  // namespace semrank
