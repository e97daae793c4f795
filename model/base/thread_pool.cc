#include "model/base/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <optional>
#include <system_error>

#include "model/base/resources.h"

namespace semrank {

ThreadPool::ThreadPool(int num_threads) {
  for (int worker = 1; worker < num_threads; ++worker) {
    try {
      threads_.emplace_back([this, worker] { RunWorker(worker); });
    } catch (const std::system_error&) {
      break;  // The system allows no more threads; a smaller pool works too.
    }
  }
}

ThreadPool::~ThreadPool() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
    work_or_stop_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::ParallelFor(
    int num_tasks, const std::function<void(int task, int worker)>& task) {
  TaskGraph graph;
  graph.Add({}, [num_tasks, &task](TaskList& tasks) {
    tasks.Add(num_tasks, std::cref(task));
  });
  Run(graph);
}

void ThreadPool::Run(TaskList& tasks) {
  ParallelFor(tasks.num_tasks(),
              [&tasks](int task, int worker) { tasks.RunTask(task, worker); });
  tasks.Clear();
}

void ThreadPool::Run(const TaskGraph& graph) {
  TaskSchedule schedule(graph);
  MutexLock lock(mutex_);
  schedule_ = &schedule;
  // The caller works too. It sleeps only when all tasks that can start were
  // taken by other threads.
  for (;;) {
    RunTasks(/*worker=*/0);
    if (schedule.ended()) break;
    work_or_end_.Wait(mutex_);
  }
  // The schedule ends with this call. A worker that has yet to report a task
  // keeps it from having ended, so none refers to it any more.
  schedule_ = nullptr;
}

void ThreadPool::RunWorker(int worker) {
  MutexLock lock(mutex_);
  while (!stop_) {
    RunTasks(worker);
    // RunTasks returned without releasing the lock after its last look for
    // work, so no notification can have been missed.
    if (!stop_) work_or_stop_.Wait(mutex_);
  }
}

void ThreadPool::RunTasks(int worker) {
  if (schedule_ == nullptr) return;
  while (const std::optional<TaskSchedule::Task> task = schedule_->Take()) {
    // Take or Finish may have unblocked more tasks than this one: wake the
    // workers that sleep. Both conditions are notified, as the caller of Run
    // may be asleep like any worker.
    if (schedule_->HasTask()) {
      work_or_stop_.NotifyAll();
      work_or_end_.NotifyAll();
    }
    // Only the bookkeeping is under the lock; tasks run in parallel.
    mutex_.Unlock();
    task->list->RunTask(task->index, worker);
    mutex_.Lock();
    schedule_->Finish(*task);
  }
  if (schedule_->ended()) work_or_end_.NotifyAll();
}

int NumUsableProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  // sched_getaffinity fails if there are more processors than cpu_set_t
  // has bits.
  const int num_allowed =
      sched_getaffinity(0, sizeof(set), &set) == 0
          ? CPU_COUNT(&set)
          : static_cast<int>(std::thread::hardware_concurrency());
  // More threads than the quota has processors would use it up early in each
  // period, and then all of them stand still until the next one.
  const int quota = ProcessorQuota();
  return std::max(1, quota > 0 ? std::min(quota, num_allowed) : num_allowed);
}

}  // namespace semrank
