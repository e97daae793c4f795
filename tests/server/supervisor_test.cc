#include "server/supervisor.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <future>

namespace semrank {
namespace {

TEST(SignalsTest, ASignalWaitsUntilItIsAskedForAndIsNamed) {
  BlockSignals();
  kill(getpid(), SIGTERM);
  EXPECT_EQ(Signals().WaitForStop([] {}), SIGTERM);
}

TEST(SignalsTest, HangupsAreHeardUntilTheStop) {
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

TEST(SignalsTest, AStartHearsHangupsAndAStop) {
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

TEST(SignalsTest, SignalsThatEndWithoutOneLeaveTheNextToOthers) {
  BlockSignals();
  EXPECT_FALSE(Signals().stop_requested());
  kill(getpid(), SIGTERM);
  EXPECT_EQ(Signals().WaitForStop([] {}), SIGTERM);
}

TEST(SignalsDeathTest, ASecondSignalEndsTheProcessAtOnce) {
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

}  // namespace
}  // namespace semrank
