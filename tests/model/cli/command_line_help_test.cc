#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_split.h"
#include "model/base/version.h"
#include "tests/model/cli/command_line_fixture.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(CommandLineTest, HelpShowsCommonFlagsByGroup) {
  const std::string help = Help("--help");
  EXPECT_THAT(help, StartsWith("semrank-train: learns two towers\n\n"
                               "Usage: semrank-train --train=FILE\n\n"
                               "Training:\n"
                               "  --gamma=NUMBER (default: 10; above 0, at "
                               "most 100)\n      Factor on the cosine.\n"));
  EXPECT_THAT(help, HasSubstr("  --[no]shared_towers (default: false)\n"));
  EXPECT_THAT(help, HasSubstr("\nData:\n  --train=A,B,... (default: none)\n"));
  EXPECT_THAT(help, HasSubstr("\nGeneral:\n  --config=FILE\n"));
  EXPECT_THAT(help, HasSubstr("6 more flags: 'semrank-train --help-all'"));
  EXPECT_THAT(help, Not(HasSubstr("--seed")));
  EXPECT_EQ(Help("-h"), help);
}

TEST(CommandLineFormTest, HelpAndErrorsSayWhatAFlagTakes) {
  CommandLine line(kTrainer);
  std::string docs;
  line.Add("docs", &docs, "Documents.", "FILE");
  EXPECT_THAT(line.ParseArguments({"--help"}).value(),
              HasSubstr("  --docs=FILE (default: none)\n"));
  EXPECT_THAT(line.ParseArguments({"--docs"}),
              StatusIs(kWrong, HasSubstr("needs a value, as --docs=FILE")));
}

TEST_F(CommandLineTest, HelpAllShowsEveryFlagInItsGroup) {
  const std::string help = Help("--help-all");
  EXPECT_THAT(help, HasSubstr("  --seed=N (default: 1)\n      Random seed.\n"));
  EXPECT_THAT(help, HasSubstr("  --optimizer=sgd|adam (default: adam)\n"));
  EXPECT_THAT(help,
              HasSubstr("  --hidden=N,N,... (default: 300,300; 1 to 4096)\n"));
  EXPECT_THAT(help,
              HasSubstr("  --drain_delay=DURATION (default: 5s; 0 to 1h)\n"));
  EXPECT_LT(help.find("--seed"), help.find("\nData:\n"));
  EXPECT_THAT(help, Not(HasSubstr("more flags")));
  for (const absl::string_view line : absl::StrSplit(help, '\n')) {
    EXPECT_LE(line.size(), 100u) << line;
  }
}

TEST_F(CommandLineTest, HelpShowsADescribedDefault) {
  command_line_.DescribeDefault("gamma", "10 or 15, by the pairs");
  EXPECT_THAT(Help("--help"),
              HasSubstr("(default: 10 or 15, by the pairs; above 0, at most "));
  EXPECT_EQ(Value("gamma").value, "10");
}

TEST_F(CommandLineTest, HelpAndVersionComeBeforeErrors) {
  EXPECT_NE(command_line_.ParseArguments({"--nonsense", "--help"}).value_or(""),
            "");
  const EnvironmentVariable variable("SEMRANK_GAMMA", "abc");
  EXPECT_NE(Help("--help"), "");
  EXPECT_EQ(Help("--version"),
            "semrank-train " + std::string(Version()) + " (with MPI)\n");
  EXPECT_THAT(Parse({"--", "--help"}), Not(IsOk()));
}

TEST(VersionTest, IsThreeNumbers) {
  EXPECT_THAT(std::string(Version()),
              ::testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

TEST_F(CommandLineTest, ParseReturnsAnExitCodeOrNothing) {
  const char* good[] = {"semrank-train", "--gamma=3"};
  EXPECT_EQ(command_line_.Parse(2, good), std::nullopt);
  EXPECT_EQ(command_line_.Parse(0, nullptr), std::nullopt);
  const char* help[] = {"semrank-train", "--help"};
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(command_line_.Parse(2, help), kExitDone);
  EXPECT_THAT(::testing::internal::GetCapturedStdout(),
              StartsWith("semrank-train: learns"));
  const char* wrong[] = {"semrank-train", "--gama=3"};
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(command_line_.Parse(2, wrong), kExitWrongUse);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "semrank-train: unknown flag --gama (did you mean --gamma?)\n"
            "Try 'semrank-train --help'.\n");
}

TEST(CommandLineDeathTest, HelpThatCannotBeWrittenIsAFailure) {
  const auto print_help = [] {
    if (freopen("/dev/full", "w", stdout) == nullptr) exit(9);
    const char* help[] = {"semrank-train", "--help"};
    exit(CommandLine(kTrainer).Parse(2, help).value_or(8));
  };
  EXPECT_EXIT(print_help(), ::testing::ExitedWithCode(kExitFailed), "");
}

TEST_F(CommandLineTest, ErrorsShowControlCharactersEscaped) {
  const char* wrong[] = {"semrank-train", "--gamma=\x1b[2J"};
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(command_line_.Parse(2, wrong), kExitWrongUse);
  EXPECT_EQ(command_line_.ExitCode(absl::NotFoundError("no \x1b[2J")),
            kExitFailed);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "semrank-train: --gamma=\\u001b[2J: must be a number, above 0, at "
            "most 100\n"
            "Try 'semrank-train --help'.\n"
            "semrank-train: error: no \\u001b[2J\n");
}

}  // namespace
}  // namespace semrank
