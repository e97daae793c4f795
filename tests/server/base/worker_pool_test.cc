#include "server/base/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace semrank {
namespace {

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

}  // namespace
}  // namespace semrank
