#include "server/base/task_queue.h"

#include <algorithm>
#include <utility>

namespace semrank {

void TaskQueue::Push(Task task, Clock::time_point now) {
  Line& line = !task.is_long ? short_ : task.has_begun ? begun_ : long_;
  line.cost += task.cost;
  line.tasks.push_back({std::move(task), now});
}

// Begun tasks come before new long ones, and the two kinds alternate. Without
// the alternation, a steady flow of short requests would starve a long one that
// has been admitted and holds its permits.
TaskQueue::Line& TaskQueue::NextLine() {
  Line& next_long = begun_.tasks.empty() ? long_ : begun_;
  if (next_long.tasks.empty()) return short_;
  if (short_.tasks.empty()) return next_long;
  // Flips only when both kinds wait.
  return std::exchange(short_is_next_, !short_is_next_) ? short_ : next_long;
}

Task TaskQueue::Pop() {
  Line& line = NextLine();
  Task task = std::move(line.tasks.front().task);
  line.tasks.pop_front();
  // Subtracts exactly what Push added, so the sum is 0 when the line is empty.
  line.cost -= task.cost;
  return task;
}

// Looks at tasks that have not begun. An empty line means no wait even while
// workers are busy: the first one to wait is always accepted, so that a long
// task with a wrong estimate cannot make the server refuse everything.
absl::Duration TaskQueue::Wait(bool is_long, Clock::time_point now) const {
  const Line& line = is_long ? long_ : short_;
  if (line.tasks.empty()) return absl::ZeroDuration();
  const absl::Duration long_cost = long_.cost + begun_.cost;
  // A short task waits for as many slices of long ones at most.
  const absl::Duration before =
      short_.cost + (is_long ? long_cost : std::min(short_.cost, long_cost));
  // The age of the oldest entry is a measurement, not an estimate: when the
  // workers are blocked it grows, whatever the costs say.
  return std::max(before / num_workers_,
                  absl::FromChrono(now - line.tasks.front().since));
}

}  // namespace semrank
