#include "server/stop.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <future>

#include "server/logging.h"

namespace semrank {
namespace {

TEST(StopTest, ASignalWaitsUntilItIsAskedForAndIsNamed) {
  BlockStopSignals();
  kill(getpid(), SIGTERM);
  EXPECT_EQ(WaitForStopSignal(), SIGTERM);
}

TEST(StopDeathTest, ASecondSignalEndsTheProcessAtOnce) {
  EXPECT_EXIT(
      {
        BlockStopSignals();
        kill(getpid(), SIGTERM);
        WaitForStopSignal();
        kill(getpid(), SIGTERM);
        std::promise<void>().get_future().wait();
      },
      ::testing::KilledBySignal(SIGTERM), "");
}

TEST(StopTest, AWatchdogThatIsDestroyedInTimeDoesNothing) {
  const Watchdog watchdog(absl::Hours(1));
}

TEST(StopDeathTest, AWatchdogEndsAStopThatHangs) {
  EXPECT_EXIT(
      {
        InitLogging(/*json=*/false);
        const Watchdog watchdog(absl::Milliseconds(10));
        std::promise<void> never;
        never.get_future().wait();
      },
      ::testing::ExitedWithCode(1), "giving up");
}

}  // namespace
}  // namespace semrank
