#include "tests/model/cli/command_line_fixture.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class CommandsTest : public ::testing::Test {
 protected:
  CommandsTest() {
    program_.Group("Connection");
    program_.Add("address", &address_, "Server.");
    CommandLine& rank = program_.AddCommand(
        {.name = "rank", .summary = "orders titles", .usage = "Usage: rank"});
    rank.Group("Ranking");
    rank.Add("top_k", &top_k_, "Titles to print.");
    rank.AddArguments(&titles_);
    CommandLine& load = program_.AddCommand(
        {.name = "load", .summary = "measures", .usage = "Usage: load"});
    load.Add("rate", &rate_, "Calls a second.");
  }
  absl::Status Parse(const Args& args) {
    return program_.ParseArguments(args).status();
  }

  std::string address_ = "127.0.0.1:50051";
  int top_k_ = 0;
  double rate_ = 0;
  Args titles_;
  CommandLine program_{
      ProgramInfo{.name = "semrank", .summary = "ranks", .usage = "Usage: x"}};
  TempDir dir_;
};

TEST_F(CommandsTest, CommandsHaveFlagsOfTheirOwnAndThoseOfTheProgram) {
  ASSERT_THAT(Parse({"--address=a:1", "rank", "--top_k=3"}), IsOk());
  EXPECT_EQ(program_.command(), "rank");
  EXPECT_EQ(address_, "a:1");
  EXPECT_EQ(top_k_, 3);
  ASSERT_THAT(Parse({"load", "--rate=5", "--address", "b:1"}), IsOk());
  EXPECT_EQ(program_.command(), "load");
  EXPECT_EQ(address_, "b:1");
  ASSERT_THAT(Parse({}), IsOk());
  EXPECT_EQ(program_.command(), "");
}

TEST_F(CommandsTest, ArgumentsMayBeNamedAsCommands) {
  ASSERT_THAT(Parse({"rank", "load", "--top_k=3", "rank", "--", "--top_k"}),
              IsOk());
  EXPECT_EQ(program_.command(), "rank");
  EXPECT_THAT(titles_, ElementsAre("load", "rank", "--top_k"));
  ASSERT_THAT(Parse({"rank", "c", "++"}), IsOk());
  EXPECT_THAT(titles_, ElementsAre("c", "++"));
  EXPECT_THAT(Parse({"load", "rank"}),
              StatusIs(kWrong, "unexpected argument 'rank'"));
}

TEST_F(CommandsTest, FlagsOfOtherCommandsAreUnknown) {
  EXPECT_THAT(Parse({"rank", "--rate=5"}),
              StatusIs(kWrong, "unknown flag --rate"));
  EXPECT_THAT(Parse({"--top_k=3", "rank"}),
              StatusIs(kWrong, "--top_k must stand after the command rank"));
}

TEST_F(CommandsTest, MisspelledCommandsGetAHint) {
  EXPECT_THAT(Parse({"rnk", "--top_k=3"}),
              StatusIs(kWrong, "no command 'rnk' (did you mean rank?)"));
  EXPECT_THAT(Parse({"--address", "a:1", "frob"}),
              StatusIs(kWrong, "no command 'frob' (there is rank, load)"));
}

TEST_F(CommandsTest, HelpOfACommandEndsWithTheFlagsOfTheProgram) {
  const std::string help =
      program_.ParseArguments({"rank", "--help"}).value_or("");
  EXPECT_THAT(help, StartsWith("semrank rank: orders titles\n\nUsage: rank\n"));
  EXPECT_LT(help.find("\nRanking:\n  --top_k=N"),
            help.find("\nConnection:\n  --address=VALUE"));
  EXPECT_THAT(help, Not(HasSubstr("--rate")));
  const std::string all = program_.ParseArguments({"--help"}).value_or("");
  EXPECT_THAT(all, HasSubstr("\nCommands:\n  rank       orders titles\n"));
  EXPECT_THAT(all, Not(HasSubstr("--top_k")));
}

TEST_F(CommandsTest, SectionsOfTheConfigFileAreForTheirCommand) {
  const std::string config =
      "--config=" + dir_.Write("semrank.toml",
                               "address=\"a:1\"\n[rank]\ntop_k=4\n"
                               "[load]\nrate=5\n");
  ASSERT_THAT(Parse({"rank", config}), IsOk());
  EXPECT_EQ(address_, "a:1");
  EXPECT_EQ(top_k_, 4);
  EXPECT_EQ(rate_, 0);
  EXPECT_THAT(Parse({"rank", "--config=" + dir_.Write("x", "[load]\nx_y=1\n")}),
              StatusIs(kWrong, HasSubstr("/x: unknown flag x_y")));
  ASSERT_THAT(Parse({"rank", "--config=" + dir_.Write("y", "top_k=6\n")}),
              IsOk());
  EXPECT_EQ(top_k_, 6);
}

TEST_F(CommandsTest, EnvironmentSetsFlagsOfTheGivenCommandOnly) {
  const EnvironmentVariable rate("SEMRANK_RATE", "abc");
  const EnvironmentVariable top_k("SEMRANK_TOP_K", "5");
  ASSERT_THAT(Parse({"rank"}), IsOk());
  EXPECT_EQ(top_k_, 5);
  EXPECT_THAT(Parse({"load"}), StatusIs(kWrong, HasSubstr("SEMRANK_RATE")));
}

TEST_F(CommandsTest, ErrorsNameTheCommand) {
  const char* wrong[] = {"semrank", "rank", "--top_k=x"};
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(program_.Parse(3, wrong), kExitWrongUse);
  EXPECT_EQ(program_.ExitCode(absl::NotFoundError("no model")), kExitFailed);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "semrank rank: --top_k=x: must be a whole number\n"
            "Try 'semrank rank --help'.\n"
            "semrank rank: error: no model\n");
}

}  // namespace
}  // namespace semrank
