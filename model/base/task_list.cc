#include "model/base/task_list.h"

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

}  // namespace semrank
