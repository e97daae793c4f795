#include "model/base/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>

namespace semrank {
namespace {

using ::testing::ExitedWithCode;
using ::testing::KilledBySignal;

// In a child process: signal handlers outlive a test.
void ExitWithMark() { std::exit(Interrupted() ? 10 : 11); }

TEST(InterruptDeathTest, WithoutASignalThereIsNoMark) {
  EXPECT_EXIT((CatchInterrupts(), ExitWithMark()), ExitedWithCode(11), "");
}

TEST(InterruptDeathTest, FirstSignalSetsTheMarkOnly) {
  EXPECT_EXIT((CatchInterrupts(), raise(SIGINT), ExitWithMark()),
              ExitedWithCode(10), "");
  EXPECT_EXIT((CatchInterrupts(), raise(SIGTERM), ExitWithMark()),
              ExitedWithCode(10), "");
}

TEST(InterruptDeathTest, OtherSignalsCountWhereTheyAreNamed) {
  EXPECT_EXIT((CatchInterrupts({SIGUSR1}), raise(SIGUSR1), ExitWithMark()),
              ExitedWithCode(10), "");
  EXPECT_EXIT((CatchInterrupts(), raise(SIGUSR1), ExitWithMark()),
              KilledBySignal(SIGUSR1), "");
}

TEST(InterruptDeathTest, AHangupSetsTheMarkAndASecondOneDoesNothing) {
  EXPECT_EXIT((CatchInterrupts(), raise(SIGHUP), raise(SIGHUP), ExitWithMark()),
              ExitedWithCode(10), "");
}

TEST(InterruptDeathTest, UnderNohupAHangupDoesNothing) {
  EXPECT_EXIT((signal(SIGHUP, SIG_IGN), CatchInterrupts(), raise(SIGHUP),
               ExitWithMark()),
              ExitedWithCode(11), "");
}

TEST(InterruptDeathTest, SecondSignalEndsTheProcess) {
  EXPECT_EXIT((CatchInterrupts(), raise(SIGINT), raise(SIGINT)),
              KilledBySignal(SIGINT), "");
  EXPECT_EXIT((CatchInterrupts(), raise(SIGINT), raise(SIGTERM)),
              KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace semrank
