#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

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
  void PushShort(char name, const std::string& caller = "") {
    Task task = Named(name);
    task.caller = caller;
    Push(std::move(task));
  }
  void PushLong(char name, bool has_begun = false,
                const std::string& caller = "") {
    Task task = Named(name);
    task.caller = caller;
    task.is_long = true;
    task.has_begun = has_begun;
    Push(std::move(task));
  }
  std::string RunAll() {
    while (!queue_.empty()) queue_.Pop(now_).run();
    return ran_;
  }
  absl::Duration ShortWait(std::string_view caller = {}) const {
    return queue_.Wait(caller, false, now_);
  }
  absl::Duration LongWait() const { return queue_.Wait("", true, now_); }

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
  queue_.Pop(now_);
  queue_.Pop(now_);
  EXPECT_EQ(LongWait(), absl::ZeroDuration());
}

TEST_F(TaskQueueTest, TheWaitIsTheCostOfWhatComesBeforeOverTheWorkers) {
  for (const char name : {'a', 'b', 'c', 'd'}) PushShort(name);
  EXPECT_EQ(ShortWait(), absl::Milliseconds(20));
  queue_.Pop(now_);
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
  queue_.Pop(now_);
  EXPECT_EQ(ShortWait(), absl::Milliseconds(5));
}

TEST_F(TaskQueueTest, CallersTakeTurns) {
  for (const char name : {'a', 'b', 'c', 'd'}) PushShort(name, "batch");
  PushShort('x', "front");
  PushShort('y', "front");
  EXPECT_EQ(RunAll(), "axbycd");
}

TEST_F(TaskQueueTest, ALongTaskOfAnotherCallerDoesNotWaitForWhatHasBegun) {
  PushLong('a', /*has_begun=*/false, "batch");
  PushLong('b', /*has_begun=*/true, "batch");
  PushLong('x', /*has_begun=*/false, "front");
  EXPECT_EQ(RunAll(), "bxa");
}

TEST_F(TaskQueueTest, ACallerWaitsForItsOwnQueueAndATurnOfEachOther) {
  for (int i = 0; i < 10; ++i) PushShort('a', "batch");
  EXPECT_EQ(ShortWait("batch"), absl::Milliseconds(10 * 10 / 2));
  EXPECT_EQ(ShortWait("front"), absl::Milliseconds(5) / 2);
  PushShort('o', "other");
  EXPECT_EQ(ShortWait("front"), absl::Milliseconds(2 * 5) / 2);
  EXPECT_EQ(ShortWait("batch"), absl::Milliseconds(11 * 10 / 2));
}

TEST_F(TaskQueueTest, OnlyABlockedQueueMakesAnotherCallerWaitLong) {
  PushShort('a', "batch");
  PushShort('b', "batch");
  now_ += milliseconds(100);
  queue_.Pop(now_);
  now_ += milliseconds(50);
  EXPECT_EQ(ShortWait("batch"), absl::Milliseconds(150));
  EXPECT_EQ(ShortWait("front"), absl::Milliseconds(50));
}

}  // namespace
}  // namespace semrank
