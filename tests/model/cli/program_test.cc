#include "model/cli/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "absl/flags/flag.h"
#include "absl/flags/reflection.h"
#include "model/base/version.h"
#include "tests/support/status_matchers.h"

ABSL_FLAG(double, gamma, 10, "Smoothing.");

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::ExitedWithCode;
using ::testing::IsEmpty;

constexpr ProgramInfo kInfo = {
    .name = "semrank-train",
    .summary = "learns",
    .usage = "Usage: semrank-train",
    .flag_source = "program_test.cc",
};

std::vector<std::string> Parse(std::vector<std::string> args) {
  std::vector<char*> argv;
  for (std::string& arg : args) argv.push_back(arg.data());
  argv.push_back(nullptr);
  return ParseCommandLine(kInfo, static_cast<int>(args.size()), argv.data());
}

// Death tests see standard error only.
void ParseWithOutputOnStandardError(std::vector<std::string> args) {
  stdout = stderr;
  Parse(std::move(args));
}

TEST(ProgramTest, SetsFlagsAndReturnsTheRest) {
  absl::FlagSaver saver;
  EXPECT_THAT(Parse({"semrank-train", "a", "--gamma=3", "b"}),
              ElementsAre("a", "b"));
  EXPECT_EQ(absl::GetFlag(FLAGS_gamma), 3);
}

TEST(ProgramTest, BearsAnEmptyArgumentVector) {
  EXPECT_THAT(Parse({}), IsEmpty());
}

TEST(ProgramTest, VersionIsThreeNumbers) {
  EXPECT_THAT(std::string(Version()),
              ::testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

TEST(ProgramDeathTest, WrongUseExitsTwoAndSaysWhy) {
  EXPECT_EXIT(
      Parse({"x", "--gama=3"}), ExitedWithCode(2),
      "^semrank-train: unknown flag --gama \\(did you mean --gamma\\?\\)\n"
      "Try 'semrank-train --help'");
  EXPECT_EXIT(Parse({"x", "--gamma=abc"}), ExitedWithCode(2),
              "semrank-train: --gamma=abc: want a number");
}

TEST(ProgramDeathTest, ReadsTheProcessEnvironment) {
  EXPECT_EXIT(
      {
        setenv("SEMRANK_GAMMA", "abc", 1);
        Parse({"x"});
      },
      ExitedWithCode(2), "semrank-train: SEMRANK_GAMMA=abc: want a number");
}

TEST(ProgramDeathTest, HelpAndVersionGoToStandardOutputAndExitZero) {
  EXPECT_EXIT(Parse({"x", "--help"}), ExitedWithCode(0), "^$");
  EXPECT_EXIT(ParseWithOutputOnStandardError({"x", "--help"}),
              ExitedWithCode(0), "^semrank-train: learns\n");
  EXPECT_EXIT(ParseWithOutputOnStandardError({"x", "--version"}),
              ExitedWithCode(0),
              "^semrank-train " + std::string(Version()) + "\n$");
}

TEST(ProgramDeathTest, HelpThatCannotBeWrittenIsAFailure) {
  EXPECT_EXIT(
      {
        if (freopen("/dev/full", "w", stdout) == nullptr) exit(9);
        Parse({"x", "--help"});
      },
      ExitedWithCode(1), "");
}

TEST(ExitCodeTest, DoneFailedAndWrongUse) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(ExitCode(kInfo, absl::OkStatus()), 0);
  EXPECT_EQ(ExitCode(kInfo, absl::InvalidArgumentError("a.tsv:3: bad")), 1);
  EXPECT_EQ(ExitCode(kInfo, FlagError("gamma", "-1", "want more than 0")), 2);
  EXPECT_EQ(ExitCode(kInfo, UsageError("no command")), 2);
  EXPECT_EQ(ExitCode(kInfo, absl::InternalError("")), 1);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "semrank-train: error: a.tsv:3: bad\n"
            "semrank-train: error: --gamma=-1: want more than 0\n"
            "semrank-train: error: no command\n"
            "semrank-train: error: INTERNAL\n");
}

TEST(FlagErrorTest, NamesFlagValueAndReason) {
  EXPECT_THAT(FlagError("gamma", "-1", "want more than 0"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--gamma=-1: want more than 0"));
}

}  // namespace
}  // namespace semrank
