// Numbered tasks of several kinds that run together as one batch: one barrier
// at the end instead of one for each kind.
//
//   Order    tasks start in the order in which they were added, so add the
//            longest first.
//   Promise  no task may depend on another of the same list, on the number of
//            threads, or on its worker except for scratch memory.
//   Threads  RunTask is thread-safe. The other methods must not run beside it.
#ifndef SEMRANK_MODEL_BASE_TASK_LIST_H_
#define SEMRANK_MODEL_BASE_TASK_LIST_H_

#include <functional>
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

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_TASK_LIST_H_
