// Worker threads for requests, so that gRPC's threads are free to read calls
// and to refuse those that would wait too long. Without workers, calls queue
// inside gRPC, where the server cannot refuse them, and all are answered too
// late.
//
//   Order    as TaskQueue.
//   Bound    CheckWait refuses a task that would wait longer than `max_wait`.
//            Tasks that are submitted without asking are bounded by admission,
//            since queued requests hold their permits.
//   Threads  WorkerPool is thread-safe.
#ifndef SEMRANK_SERVER_BASE_WORKER_POOL_H_
#define SEMRANK_SERVER_BASE_WORKER_POOL_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/node_hash_map.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "model/base/mutex.h"
#include "server/base/fair_share.h"
#include "server/base/limits.h"

namespace semrank {

struct Task {
  std::function<void()> run;
  // Caller::name.
  std::string caller = {};
  // Longer than one slice: run() does one slice and submits the next.
  bool is_long = false;
  // A slice of a long task that is not its first.
  bool has_begun = false;
  // How long the task, or what is left of it, is expected to run.
  absl::Duration cost = absl::ZeroDuration();
};

// Tasks that wait for a worker, the order in which they run, and how long a
// further one would wait.
//
//   Order    short tasks (one slice) and long ones alternate, so neither kind
//            waits for all of the other. Within a kind callers are served
//            round-robin, so none waits for the queue of another. The tasks of
//            a caller are first in, first out; a long one that has begun
//            precedes those that have not, so that a few run at once and end
//            early instead of all of them late.
//   Wait     the estimated cost of the tasks before, divided by the workers, or
//            how long the caller's oldest has waited already if that is longer:
//            estimates may be wrong, and workers may be blocked.
//   Threads  not thread-safe; WorkerPool locks.
class TaskQueue {
 public:
  using Clock = std::chrono::steady_clock;

  // At least one worker.
  explicit TaskQueue(int num_workers) : num_workers_(num_workers) {}

  void Push(Task task, Clock::time_point now);
  // Must not be empty.
  Task Pop(Clock::time_point now);

  // How long a task of this kind would wait if the caller pushed it now; 0 when
  // none of the kind waits to begin.
  absl::Duration Wait(std::string_view caller, bool is_long,
                      Clock::time_point now) const;

  bool empty() const { return short_.empty() && long_.empty(); }

 private:
  struct Entry {
    Task task;
    Clock::time_point since;
  };
  // The tasks of one caller that are of one kind.
  struct CallerTasks {
    std::deque<Entry> begun;
    std::deque<Entry> waiting;  // to begin
    absl::Duration cost = absl::ZeroDuration();

    std::size_t size() const { return begun.size() + waiting.size(); }
  };
  // The tasks of one kind.
  class Line {
   public:
    void Push(Entry entry);
    Task Pop(Clock::time_point now);

    bool empty() const { return turns_.empty(); }
    absl::Duration cost() const { return cost_; }
    std::size_t num_waiting() const { return num_waiting_; }
    // The cost of what precedes the next task of the caller.
    absl::Duration CostBefore(std::string_view caller) const;
    // How long the caller's oldest task has waited to begin, or how long all
    // have waited for a worker to take any.
    absl::Duration Age(std::string_view caller, Clock::time_point now) const;

   private:
    const CallerTasks* Find(std::string_view caller) const;

    // Callers that have tasks, by name, and in the order of their turns.
    absl::node_hash_map<std::string, CallerTasks> callers_;
    std::deque<std::pair<const std::string, CallerTasks>*> turns_;
    absl::Duration cost_ = absl::ZeroDuration();
    std::size_t num_tasks_ = 0;
    std::size_t num_waiting_ = 0;
    // When a worker last took a task, or the first one came.
    Clock::time_point moved_;
  };
  Line& NextLine();

  const int num_workers_;
  Line short_, long_;
  bool short_is_next_ = true;
};

class WorkerPool {
 public:
  struct Options {
    int num_threads = 1;  // at least one is started
    absl::Duration max_wait = kMaxQueueWait;
    // The share of one caller in the time that all workers have within max_wait
    // (FairShare); 1 = all of it.
    double max_share_per_caller = 1;
    // Tests replace it.
    std::function<TaskQueue::Clock::time_point()> now = &TaskQueue::Clock::now;
  };

  explicit WorkerPool(Options options);
  explicit WorkerPool(int num_threads)
      : WorkerPool(Options{.num_threads = num_threads}) {}
  // Runs the queued tasks, then joins the threads.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  void Submit(Task task);
  void Submit(std::function<void()> run) { Submit({.run = std::move(run)}); }

  // ResourceExhausted OVERLOADED if a task of the caller would wait longer than
  // max_wait, or would not end within `time_left`. No task is refused while
  // none of its kind waits.
  absl::Status CheckWait(std::string_view caller, bool is_long,
                         absl::Duration cost, absl::Duration time_left) const;

  // Divides the microseconds that all workers have within max_wait among the
  // callers whose tasks wait or run.
  FairShare& shares() { return shares_; }

  // True while tasks wait for a worker.
  bool has_queue() const;
  int num_threads() const { return static_cast<int>(threads_.size()); }

 private:
  void Run();
  absl::Status WaitsTooLong(absl::Duration wait) const;

  const Options options_;
  FairShare shares_;
  mutable Mutex mutex_;
  CondVar work_or_stop_;
  TaskQueue queue_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  // The last error of WaitsTooLong, and the wait that it names.
  mutable Mutex refusal_mutex_;
  mutable std::int64_t refused_wait_ ABSL_GUARDED_BY(refusal_mutex_) = 0;
  mutable absl::Status refusal_ ABSL_GUARDED_BY(refusal_mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_WORKER_POOL_H_
