#include "model/base/work_graph.h"

#include <algorithm>
#include <utility>

namespace semrank {

WorkGraph::Stage WorkGraph::Add(Stages needs, AddWork add_work) {
  nodes_.push_back({std::move(needs), std::move(add_work)});
  return static_cast<Stage>(nodes_.size()) - 1;
}

WorkSchedule::WorkSchedule(const WorkGraph& graph)
    : graph_(graph), states_(graph.nodes_.size()) {}

bool WorkSchedule::CanBegin(WorkGraph::Stage stage) const {
  return !states_[stage].has_begun &&
         std::ranges::all_of(graph_.nodes_[stage].needs,
                             [this](WorkGraph::Stage needed) {
                               return states_[needed].has_ended();
                             });
}

void WorkSchedule::Begin(WorkGraph::Stage stage) {
  State& state = states_[stage];
  graph_.nodes_[stage].add_work(state.work);
  state.num_unfinished = state.work.num_tasks();
  state.has_begun = true;
}

std::optional<WorkSchedule::Task> WorkSchedule::Take() {
  for (std::size_t s = 0; s < states_.size(); ++s) {
    const auto stage = static_cast<WorkGraph::Stage>(s);
    State& state = states_[s];
    // A stage needs earlier ones only, so any stage that an empty one unblocks
    // comes later in this loop.
    if (CanBegin(stage)) Begin(stage);
    if (state.has_tasks()) return Task{stage, &state.work, state.next_task++};
  }
  return std::nullopt;
}

bool WorkSchedule::HasWork() const {
  for (std::size_t s = 0; s < states_.size(); ++s) {
    if (states_[s].has_tasks() || CanBegin(static_cast<WorkGraph::Stage>(s))) {
      return true;
    }
  }
  return false;
}

void WorkSchedule::Finish(const Task& task) {
  --states_[task.stage].num_unfinished;
}

bool WorkSchedule::ended() const {
  return std::ranges::all_of(states_, &State::has_ended);
}

}  // namespace semrank
