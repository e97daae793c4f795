#include <gtest/gtest.h>

#include <string>

#include "server/base/worker_pool.h"

namespace semrank {
namespace {

using std::chrono::milliseconds;

class TaskQueueTest : public ::testing::Test {
 protected:
  Task Named(char name) {
    return {.run = [this, name] { ran_ += name; },
            .cost = absl::Milliseconds(10)};
  }
  void Push(Task task) { queue_.Push(std::move(task), now_); }
  void PushShort(char name) { Push(Named(name)); }
  void PushLong(char name, bool has_begun = false) {
    Task task = Named(name);
    task.is_long = true;
    task.has_begun = has_begun;
    Push(std::move(task));
  }
  std::string RunAll() {
    while (!queue_.empty()) queue_.Pop().run();
    return ran_;
  }
  absl::Duration ShortWait() const { return queue_.Wait(false, now_); }
  absl::Duration LongWait() const { return queue_.Wait(true, now_); }

  TaskQueue::Clock::time_point now_;
  TaskQueue queue_{2};
  std::string ran_;
};

TEST_F(TaskQueueTest, ShortAndLongTasksTakeTurns) {
  for (const char name : {'a', 'b', 'c'}) PushShort(name);
  for (const char name : {'X', 'Y'}) PushLong(name);
  EXPECT_EQ(RunAll(), "aXbYc");
}

TEST_F(TaskQueueTest, ALongTaskThatHasBegunGoesBeforeTheNext) {
  PushLong('X');
  PushLong('Y');
  PushLong('b', /*has_begun=*/true);
  EXPECT_EQ(RunAll(), "bXY");
}

TEST_F(TaskQueueTest, TheFirstOfAKindDoesNotWait) {
  EXPECT_EQ(ShortWait(), absl::ZeroDuration());
  PushLong('X');
  EXPECT_EQ(ShortWait(), absl::ZeroDuration());
  PushLong('b', /*has_begun=*/true);
  queue_.Pop();
  queue_.Pop();
  EXPECT_EQ(LongWait(), absl::ZeroDuration());
}

TEST_F(TaskQueueTest, TheWaitIsTheCostOfWhatComesBeforeOverTheWorkers) {
  for (const char name : {'a', 'b', 'c', 'd'}) PushShort(name);
  EXPECT_EQ(ShortWait(), absl::Milliseconds(20));
  queue_.Pop();
  EXPECT_EQ(ShortWait(), absl::Milliseconds(15));
}

TEST_F(TaskQueueTest, ShortTasksWaitForAsManySlicesOfLongOnesAtMost) {
  PushShort('a');
  for (const char name : {'X', 'Y', 'Z'}) PushLong(name);
  EXPECT_EQ(ShortWait(), absl::Milliseconds(10));
  EXPECT_EQ(LongWait(), absl::Milliseconds(20));
}

TEST_F(TaskQueueTest, TheWaitIsAtLeastThatOfTheOldest) {
  PushShort('a');
  now_ += milliseconds(70);
  PushShort('b');
  EXPECT_EQ(ShortWait(), absl::Milliseconds(70));
  queue_.Pop();
  EXPECT_EQ(ShortWait(), absl::Milliseconds(5));
}

}  // namespace
}  // namespace semrank
