#include "server/stop.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <future>

#include "server/base/logging.h"

namespace semrank {
namespace {

TEST(StopTest, ASignalWaitsUntilItIsAskedForAndIsNamed) {
  BlockSignals();
  kill(getpid(), SIGTERM);
  EXPECT_EQ(WaitForStopSignal([] {}), SIGTERM);
}

TEST(StopTest, HangupsAreHeardUntilTheStop) {
  BlockSignals();
  int num_hangups = 0;
  kill(getpid(), SIGHUP);
  EXPECT_EQ(WaitForStopSignal([&] {
              ++num_hangups;
              kill(getpid(), SIGINT);
            }),
            SIGINT);
  EXPECT_EQ(num_hangups, 1);
}

TEST(StopTest, AStartHearsHangupsAndAStop) {
  BlockSignals();
  StartSignals signals;
  EXPECT_FALSE(signals.WaitForStop(absl::ZeroDuration()));
  kill(getpid(), SIGHUP);
  EXPECT_FALSE(signals.WaitForStop(absl::Hours(1)));
  kill(getpid(), SIGTERM);
  EXPECT_TRUE(signals.WaitForStop(absl::Hours(1)));
  EXPECT_TRUE(signals.stop_requested());
  EXPECT_TRUE(signals.End());
}

TEST(StopTest, AfterTheStartSignalsWaitAgain) {
  BlockSignals();
  EXPECT_FALSE(StartSignals().End());
  kill(getpid(), SIGTERM);
  EXPECT_EQ(WaitForStopSignal([] {}), SIGTERM);
}

TEST(StopDeathTest, ASecondSignalWhileStartingEndsTheProcessAtOnce) {
  EXPECT_EXIT(
      {
        BlockSignals();
        StartSignals signals;
        kill(getpid(), SIGTERM);
        signals.WaitForStop(absl::Hours(1));
        kill(getpid(), SIGTERM);
        std::promise<void>().get_future().wait();
      },
      ::testing::KilledBySignal(SIGTERM), "");
}

TEST(StopDeathTest, ASecondSignalEndsTheProcessAtOnce) {
  EXPECT_EXIT(
      {
        BlockSignals();
        kill(getpid(), SIGTERM);
        WaitForStopSignal([] {});
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
