// Tasks that wait for a worker, the order in which they run, and how long a
// further one would wait.
//
//   Order    short tasks (one slice) and long ones take turns, so neither kind
//            waits for all of the other. Each kind is first in, first out; a
//            long task that has begun goes before those that have not, so that
//            a few run at once and end early instead of all of them late.
//   Wait     the estimated cost of what comes before, divided by the workers,
//            or how long the oldest has waited already if that is longer:
//            estimates may be wrong, and workers may be blocked.
//   Threads  none; WorkerPool locks.
#ifndef SEMRANK_SERVER_BASE_TASK_QUEUE_H_
#define SEMRANK_SERVER_BASE_TASK_QUEUE_H_

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>

#include "absl/time/time.h"

namespace semrank {

struct Task {
  std::function<void()> run;
  // Longer than one slice: run() does one slice and submits the next.
  bool is_long = false;
  // A slice of a long task that is not its first.
  bool has_begun = false;
  // How long the task, or what is left of it, is expected to run.
  absl::Duration cost = absl::ZeroDuration();
};

class TaskQueue {
 public:
  using Clock = std::chrono::steady_clock;

  // At least one worker.
  explicit TaskQueue(int num_workers) : num_workers_(num_workers) {}

  void Push(Task task, Clock::time_point now);
  // Must not be empty.
  Task Pop();

  // How long a task of this kind would wait if it were pushed now; 0 when none
  // of the kind waits to begin.
  absl::Duration Wait(bool is_long, Clock::time_point now) const;

  bool empty() const { return size() == 0; }
  std::size_t size() const {
    return short_.tasks.size() + long_.tasks.size() + begun_.tasks.size();
  }

 private:
  struct Line {
    struct Entry {
      Task task;
      Clock::time_point since;
    };
    std::deque<Entry> tasks;
    absl::Duration cost = absl::ZeroDuration();  // of all of them
  };
  Line& NextLine();

  const int num_workers_;
  Line short_, long_, begun_;  // long_: not begun
  bool short_is_next_ = true;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_TASK_QUEUE_H_
