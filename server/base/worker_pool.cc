#include "server/base/worker_pool.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "model/base/strings.h"
#include "server/base/errors.h"

namespace semrank {
namespace {

// About how long a slice takes.
constexpr absl::Duration kSlice = absl::Milliseconds(5);

std::int64_t Milliseconds(absl::Duration time) {
  return absl::ToInt64Milliseconds(time);
}

}  // namespace

void TaskQueue::Line::Push(Entry entry) {
  if (empty()) moved_ = entry.since;
  const auto [at, is_new] = callers_.try_emplace(entry.task.caller);
  if (is_new) turns_.push_back(&*at);
  CallerTasks& tasks = at->second;
  tasks.cost += entry.task.cost;
  cost_ += entry.task.cost;
  ++num_tasks_;
  if (!entry.task.has_begun) ++num_waiting_;
  (entry.task.has_begun ? tasks.begun : tasks.waiting)
      .push_back(std::move(entry));
}

Task TaskQueue::Line::Pop(Clock::time_point now) {
  moved_ = now;
  auto* const turn = turns_.front();
  turns_.pop_front();
  CallerTasks& tasks = turn->second;
  std::deque<Entry>& entries =
      tasks.begun.empty() ? tasks.waiting : tasks.begun;
  Task task = std::move(entries.front().task);
  entries.pop_front();
  // Subtracts exactly what Push added, so the sums are 0 in the end.
  tasks.cost -= task.cost;
  cost_ -= task.cost;
  --num_tasks_;
  if (!task.has_begun) --num_waiting_;
  if (tasks.size() > 0) {
    turns_.push_back(turn);
  } else {
    callers_.erase(task.caller);
  }
  return task;
}

const TaskQueue::CallerTasks* TaskQueue::Line::Find(
    std::string_view caller) const {
  const auto found = callers_.find(ToAbsl(caller));
  return found == callers_.end() ? nullptr : &found->second;
}

// A new task of the caller runs after the caller's own tasks. Until then each
// other caller has one turn more than the caller has tasks, and a turn takes at
// most a slice.
absl::Duration TaskQueue::Line::CostBefore(std::string_view caller) const {
  const CallerTasks* const own = Find(caller);
  const absl::Duration cost = own == nullptr ? absl::ZeroDuration() : own->cost;
  const std::size_t num_own = own == nullptr ? 0 : own->size();
  const std::size_t num_callers = callers_.size() - (own == nullptr ? 0 : 1);
  if (num_callers == 0) return cost;
  const absl::Duration others = cost_ - cost;
  const absl::Duration turn =
      std::min(others / static_cast<double>(num_tasks_ - num_own), kSlice);
  const absl::Duration turns_before =
      std::max(cost, turn * static_cast<double>(num_own)) + turn;
  return cost +
         std::min(others, turns_before * static_cast<double>(num_callers));
}

absl::Duration TaskQueue::Line::Age(std::string_view caller,
                                    Clock::time_point now) const {
  const CallerTasks* const own = Find(caller);
  return absl::FromChrono(now - (own == nullptr || own->waiting.empty()
                                     ? moved_
                                     : own->waiting.front().since));
}

void TaskQueue::Push(Task task, Clock::time_point now) {
  Line& line = task.is_long ? long_ : short_;
  line.Push({std::move(task), now});
}

// Without the alternation, a steady flow of short requests would starve a long
// one that has been admitted and holds its permits.
TaskQueue::Line& TaskQueue::NextLine() {
  if (long_.empty()) return short_;
  if (short_.empty()) return long_;
  // Flips only when both kinds wait.
  return std::exchange(short_is_next_, !short_is_next_) ? short_ : long_;
}

Task TaskQueue::Pop(Clock::time_point now) { return NextLine().Pop(now); }

// An empty line means no wait even while workers are busy: the first task to
// wait is always accepted, so that a long task with a wrong estimate cannot
// make the server refuse everything.
absl::Duration TaskQueue::Wait(std::string_view caller, bool is_long,
                               Clock::time_point now) const {
  const Line& line = is_long ? long_ : short_;
  const Line& other = is_long ? short_ : long_;
  if (line.num_waiting() == 0) return absl::ZeroDuration();
  // The kinds alternate, so about as much of the other one runs before.
  const absl::Duration before = line.CostBefore(caller);
  // The age is a measurement: it grows when the workers are blocked, whatever
  // the estimated costs are.
  return std::max((before + std::min(before, other.cost())) / num_workers_,
                  line.Age(caller, now));
}

WorkerPool::WorkerPool(Options options)
    : options_(std::move(options)),
      shares_("microseconds of work",
              absl::ToInt64Microseconds(options_.max_wait) *
                  std::max(options_.num_threads, 1),
              options_.max_share_per_caller),
      queue_(std::max(options_.num_threads, 1)) {
  for (int i = 0; i < std::max(options_.num_threads, 1); ++i) {
    threads_.emplace_back([this] { Run(); });
  }
}

// Queued tasks still run, since each belongs to a request that must be
// answered. Run returns only when the queue is empty too.
WorkerPool::~WorkerPool() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
  }
  work_or_stop_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::Submit(Task task) {
  {
    MutexLock lock(mutex_);
    queue_.Push(std::move(task), options_.now());
  }
  // The mutex is released first, so that the woken thread need not wait for it.
  work_or_stop_.NotifyOne();
}

bool WorkerPool::has_queue() const {
  MutexLock lock(mutex_);
  return !queue_.empty();
}

absl::Status WorkerPool::CheckWait(std::string_view caller, bool is_long,
                                   absl::Duration cost,
                                   absl::Duration time_left) const {
  // The wait may be out of date when it is used, since other threads submit
  // tasks. That is acceptable, because the limit is an estimate anyway.
  absl::Duration wait;
  {
    MutexLock lock(mutex_);
    wait = queue_.Wait(caller, is_long, options_.now());
  }
  // The task is accepted even if its cost exceeds the time left: only a run
  // corrects an estimate that is too high.
  if (wait == absl::ZeroDuration()) return absl::OkStatus();
  if (wait > options_.max_wait) return WaitsTooLong(wait);
  if (wait + cost > time_left) {
    // The client set this limit, so the error names no flag.
    return Overloaded(
        absl::StrFormat("the request would wait %d ms for a worker and run for "
                        "%d ms; its deadline is in %d ms",
                        Milliseconds(wait), Milliseconds(cost),
                        Milliseconds(time_left)),
        {{"value", std::to_string(Milliseconds(wait + cost))},
         {"limit", std::to_string(Milliseconds(time_left))}});
  }
  return absl::OkStatus();
}

// The wait is rounded up, so that most refusals of an overloaded server are
// copies of one status: making one takes as long as the checks of a call.
absl::Status WorkerPool::WaitsTooLong(absl::Duration wait) const {
  const std::int64_t rounded =
      Milliseconds(absl::Ceil(wait, absl::Milliseconds(10)));
  const MutexLock lock(refusal_mutex_);
  if (std::exchange(refused_wait_, rounded) == rounded) return refusal_;
  const std::int64_t limit = Milliseconds(options_.max_wait);
  refusal_ = Overloaded(
      absl::StrFormat("the request would wait %d ms for a worker; the limit is "
                      "%d ms (--max_queue_wait)",
                      rounded, limit),
      LimitValues(rounded, limit, "max_queue_wait"));
  return refusal_;
}

void WorkerPool::Run() {
  while (true) {
    Task task;
    {
      MutexLock lock(mutex_);
      while (queue_.empty() && !stop_) work_or_stop_.Wait(mutex_);
      if (queue_.empty()) return;
      task = queue_.Pop(options_.now());
    }
    // `task` is destroyed at the end of the iteration, before the next wait, so
    // that an idle worker does not keep what it captured.
    task.run();
  }
}

}  // namespace semrank
