#include "server/base/periodic_task.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "server/base/logging.h"

namespace semrank {
namespace {

TEST(PeriodicTaskTest, RunsAgainAndAgain) {
  std::atomic<int> num_runs = 0;
  std::promise<void> ran_thrice;
  const PeriodicTask task(absl::Milliseconds(1), [&] {
    if (++num_runs == 3) ran_thrice.set_value();
  });
  ran_thrice.get_future().wait();
}

TEST(PeriodicTaskTest, WithoutAnIntervalRunsOnlyWhenHurried) {
  std::atomic<int> num_runs = 0;
  {
    std::promise<void> ran;
    PeriodicTask task(absl::ZeroDuration(), [&] {
      ++num_runs;
      ran.set_value();
    });
    task.RunNow();
    ran.get_future().wait();
  }
  EXPECT_EQ(num_runs, 1);
}

TEST(PeriodicTaskTest, IsStoppedInTheMiddleOfALongInterval) {
  const PeriodicTask task(absl::Hours(1), [] { FAIL(); });
}

TEST(WatchdogTest, DoesNothingWhenItIsDestroyedInTime) {
  const Watchdog watchdog(absl::Hours(1));
}

TEST(WatchdogDeathTest, EndsAProcessThatHangs) {
  EXPECT_EXIT(
      {
        InitLogging(/*json=*/false);
        const Watchdog watchdog(absl::Milliseconds(10));
        std::promise<void> never;
        never.get_future().wait();
      },
      ::testing::ExitedWithCode(1), "still not stopped");
}

}  // namespace
}  // namespace semrank
