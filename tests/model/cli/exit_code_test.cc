#include "model/cli/exit_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

TEST(ExitCodeTest, DoneFailedAndWrongUse) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(ExitCode("semrank-train", absl::OkStatus()), 0);
  EXPECT_EQ(
      ExitCode("semrank-train", absl::InvalidArgumentError("a.tsv:3: bad")), 1);
  EXPECT_EQ(
      ExitCode("semrank-train", FlagError("gamma", "-1", "want more than 0")),
      2);
  EXPECT_EQ(ExitCode("semrank-train", UsageError("no command")), 2);
  EXPECT_EQ(ExitCode("semrank-train", absl::InternalError("")), 1);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "semrank-train: error: a.tsv:3: bad\n"
            "semrank-train: error: --gamma=-1: want more than 0\n"
            "semrank-train: error: no command\n"
            "semrank-train: error: INTERNAL\n");
}

TEST(FlagErrorTest, AMissingFlagHasNoEqualsSign) {
  EXPECT_EQ(FlagError("docs", "", "is required").message(),
            "--docs: is required");
}

TEST(FlagErrorTest, NamesFlagValueAndReason) {
  EXPECT_THAT(FlagError("gamma", "-1", "want more than 0"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--gamma=-1: want more than 0"));
}

}  // namespace
}  // namespace semrank
