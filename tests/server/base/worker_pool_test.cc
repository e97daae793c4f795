#include "server/base/worker_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <utility>

#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

TEST(WorkerPoolTest, RunsEverythingBeforeItIsDestroyed) {
  std::atomic<int> num_run = 0;
  {
    WorkerPool pool(3);
    for (int i = 0; i < 1000; ++i) pool.Submit([&] { ++num_run; });
  }
  EXPECT_EQ(num_run, 1000);
}

TEST(WorkerPoolTest, OneLongTaskDoesNotHoldUpAnotherThread) {
  WorkerPool pool(2);
  std::promise<void> second_ran;
  std::promise<void> first_done;
  pool.Submit([&] {
    second_ran.get_future().wait();
    first_done.set_value();
  });
  pool.Submit([&] { second_ran.set_value(); });
  first_done.get_future().wait();
}

// One worker, which is blocked until Release, and a clock set by hand.
class BlockedPoolTest : public ::testing::Test {
 protected:
  BlockedPoolTest() {
    std::promise<void> blocked;
    pool_.Submit([&blocked, released = release_.get_future().share()] {
      blocked.set_value();
      released.wait();
    });
    blocked.get_future().wait();
  }
  ~BlockedPoolTest() override {
    if (!std::exchange(released_, true)) release_.set_value();
  }
  // Returns once everything that was queued has run.
  void Release() {
    released_ = true;
    std::promise<void> ran;
    pool_.Submit([&] { ran.set_value(); });
    release_.set_value();
    ran.get_future().wait();
  }
  void Queue(absl::Duration cost) {
    pool_.Submit({.run = [] {}, .cost = cost});
  }
  absl::Status Check(absl::Duration time_left = absl::InfiniteDuration()) {
    return pool_.CheckWait("", false, absl::Milliseconds(1), time_left);
  }

  std::atomic<TaskQueue::Clock::time_point> now_{};
  bool released_ = false;
  std::promise<void> release_;
  WorkerPool pool_{{.num_threads = 1,
                    .max_wait = absl::Milliseconds(100),
                    .now = [this] { return now_.load(); }}};
};

TEST_F(BlockedPoolTest, WhatWouldWaitBeyondTheLimitIsRefused) {
  EXPECT_THAT(Check(), IsOk());
  for (int i = 0; i < 10; ++i) Queue(absl::Milliseconds(10));
  EXPECT_THAT(Check(), IsOk());
  Queue(absl::Milliseconds(1));
  EXPECT_THAT(Check(), StatusIs(absl::StatusCode::kResourceExhausted,
                                HasSubstr("wait 110 ms for a worker; the limit "
                                          "is 100 ms (--max_queue_wait)")));
}

TEST_F(BlockedPoolTest, NothingIsRefusedWhileNothingWaits) {
  now_ = now_.load() + std::chrono::hours(1);
  EXPECT_THAT(Check(absl::ZeroDuration()), IsOk());
}

TEST_F(BlockedPoolTest, ABlockedWorkerIsNoticedWhateverTheEstimates) {
  Queue(absl::ZeroDuration());
  now_ = now_.load() + std::chrono::milliseconds(100);
  EXPECT_THAT(Check(), IsOk());
  now_ = now_.load() + std::chrono::milliseconds(1);
  EXPECT_THAT(Check(), StatusIs(absl::StatusCode::kResourceExhausted));
  Release();
  EXPECT_THAT(Check(), IsOk());
}

TEST_F(BlockedPoolTest, WhatWouldMissItsDeadlineIsRefused) {
  Queue(absl::Milliseconds(50));
  EXPECT_THAT(Check(absl::Milliseconds(51)), IsOk());
  EXPECT_THAT(Check(absl::Milliseconds(50)),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("its deadline is in 50 ms")));
}

}  // namespace
}  // namespace semrank
