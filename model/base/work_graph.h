// Stages of tasks with dependencies: while the last tasks of one stage run,
// idle workers start on any other stage whose dependencies have ended.
//
//   WorkGraph     the stages and which of them each needs.
//   WorkSchedule  one run of a graph: which task can start next.
//   Promise       a task sees all writes of the stages that its stage needs,
//                 directly or through others.
//   Threads       not thread-safe; ThreadPool::Run holds its mutex.
#ifndef SEMRANK_MODEL_BASE_WORK_GRAPH_H_
#define SEMRANK_MODEL_BASE_WORK_GRAPH_H_

#include <functional>
#include <optional>
#include <vector>

#include "model/base/work_list.h"

namespace semrank {

class WorkGraph {
 public:
  // Stages are numbered from 0 in the order of Add. Of the stages that can
  // start, the lowest number starts first.
  using Stage = int;
  using Stages = std::vector<Stage>;
  using AddWork = std::function<void(WorkList& work)>;

  // Adds a stage whose tasks `add_work` lists, perhaps none. `add_work` is
  // called on any thread once all of `needs` have ended, while tasks of other
  // stages may run. It must be short: it runs under the pool's mutex.
  // `needs` names earlier stages only.
  Stage Add(Stages needs, AddWork add_work);

 private:
  friend class WorkSchedule;
  struct Node {
    Stages needs;
    AddWork add_work;
  };
  std::vector<Node> nodes_;
};

class WorkSchedule {
 public:
  struct Task {
    WorkGraph::Stage stage;
    const WorkList* work;
    int index;  // in `work`
  };

  // `graph` outlives the schedule.
  explicit WorkSchedule(const WorkGraph& graph);

  // The next task to run. nullopt when all tasks were taken, or when the
  // remaining ones depend on tasks that still run.
  std::optional<Task> Take();
  // Whether Take would return a task.
  bool HasWork() const;
  // Records that `task` has run.
  void Finish(const Task& task);
  // Whether every task of every stage has run.
  bool ended() const;

 private:
  struct State {
    WorkList work;
    bool has_begun = false;
    int next_task = 0;
    int num_unfinished = 0;

    bool has_ended() const { return has_begun && num_unfinished == 0; }
    bool has_tasks() const { return next_task < work.num_tasks(); }
  };

  bool CanBegin(WorkGraph::Stage stage) const;
  void Begin(WorkGraph::Stage stage);

  const WorkGraph& graph_;
  std::vector<State> states_;  // by stage; fixed size, as Task points into it
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_WORK_GRAPH_H_
