// Numbered tasks that run together, and stages of such tasks with dependencies:
// while the last tasks of one stage run, idle workers start on any other stage
// whose dependencies have ended.
//
//   TaskList      tasks of several kinds as one batch, with one barrier at the
//                 end. They start in the order in which they were added, so add
//                 the longest first. No task may depend on another of the list,
//                 on the number of threads, or on its worker except for scratch
//                 memory.
//   TaskGraph     the stages and which of them each needs.
//   TaskSchedule  one run of a graph: which task can start next.
//   Promise       a task sees all writes of the stages that its stage needs,
//                 directly or through others.
//   Threads       TaskList::RunTask is thread-safe; nothing else of a list may
//                 run beside it. The others are not thread-safe:
//                 ThreadPool::Run holds its mutex.
#ifndef SEMRANK_MODEL_BASE_TASK_GRAPH_H_
#define SEMRANK_MODEL_BASE_TASK_GRAPH_H_

#include <functional>
#include <optional>
#include <vector>

namespace semrank {

class TaskList {
 public:
  using Task = std::function<void(int task, int worker)>;

  // Adds task(i, worker) for each i in [0, num_tasks).
  void Add(int num_tasks, Task task);
  // Splits [0, count) into blocks of `block` items (the last may be shorter)
  // and adds range(first, last, worker) for each.
  void AddBlocks(int count, int block,
                 std::function<void(int first, int last, int worker)> range);

  // Number of tasks of all kinds.
  int num_tasks() const { return num_tasks_; }
  void RunTask(int task, int worker) const;

  void Clear();

 private:
  struct Entry {
    int first_task;
    Task task;
  };
  std::vector<Entry> entries_;
  int num_tasks_ = 0;
};

class TaskGraph {
 public:
  // Stages are numbered from 0 in the order of Add. If several stages can
  // start, the lowest number starts first.
  using Stage = int;
  using Stages = std::vector<Stage>;
  using AddTasks = std::function<void(TaskList& tasks)>;

  // Adds a stage whose tasks `add_tasks` lists, perhaps none. `add_tasks` is
  // called on any thread once all of `needs` have ended, while tasks of other
  // stages may run. It must be short: it runs under the pool's mutex.
  // `needs` names earlier stages only.
  Stage Add(Stages needs, AddTasks add_tasks);

 private:
  friend class TaskSchedule;
  struct Node {
    Stages needs;
    AddTasks add_tasks;
  };
  std::vector<Node> nodes_;
};

class TaskSchedule {
 public:
  struct Task {
    TaskGraph::Stage stage;
    const TaskList* list;
    int index;  // in `list`
  };

  // `graph` outlives the schedule.
  explicit TaskSchedule(const TaskGraph& graph);

  // The next task to run. nullopt when all tasks were taken, or when the
  // remaining ones depend on tasks that still run.
  std::optional<Task> Take();
  // Whether Take would return a task.
  bool HasTask() const;
  // Records that `task` has run.
  void Finish(const Task& task);
  // Whether every task of every stage has run.
  bool ended() const;

 private:
  struct State {
    TaskList tasks;
    bool has_begun = false;
    int next_task = 0;
    int num_unfinished = 0;

    bool has_ended() const { return has_begun && num_unfinished == 0; }
    bool has_tasks() const { return next_task < tasks.num_tasks(); }
  };

  bool CanBegin(TaskGraph::Stage stage) const;
  void Begin(TaskGraph::Stage stage);

  const TaskGraph& graph_;
  std::vector<State> states_;  // by stage; fixed size, as Task points into it
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_TASK_GRAPH_H_
