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
  EXPECT_EQ(Signals().WaitForStop([] {}), SIGTERM);
}

TEST(StopTest, HangupsAreHeardUntilTheStop) {
  BlockSignals();
  Signals signals;
  int num_hangups = 0;
  kill(getpid(), SIGHUP);
  EXPECT_EQ(signals.WaitForStop([&] {
    ++num_hangups;
    kill(getpid(), SIGINT);
  }),
            SIGINT);
  EXPECT_EQ(num_hangups, 1);
}

TEST(StopTest, AStartHearsHangupsAndAStop) {
  BlockSignals();
  Signals signals;
  EXPECT_FALSE(signals.WaitFor(absl::ZeroDuration()));
  kill(getpid(), SIGHUP);
  EXPECT_FALSE(signals.WaitFor(absl::Hours(1)));
  EXPECT_FALSE(signals.stop_requested());
  kill(getpid(), SIGTERM);
  EXPECT_TRUE(signals.WaitFor(absl::Hours(1)));
  EXPECT_TRUE(signals.stop_requested());
  EXPECT_EQ(signals.WaitForStop([] {}), SIGTERM);
}

TEST(StopTest, SignalsThatEndWithoutOneLeaveTheNextToOthers) {
  BlockSignals();
  EXPECT_FALSE(Signals().stop_requested());
  kill(getpid(), SIGTERM);
  EXPECT_EQ(Signals().WaitForStop([] {}), SIGTERM);
}

TEST(StopDeathTest, ASecondSignalEndsTheProcessAtOnce) {
  EXPECT_EXIT(
      {
        BlockSignals();
        Signals signals;
        kill(getpid(), SIGTERM);
        signals.WaitForStop([] {});
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
