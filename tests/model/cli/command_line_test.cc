#include "model/cli/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "absl/strings/str_split.h"
#include "model/base/version.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

using Args = std::vector<std::string>;
constexpr absl::StatusCode kWrong = absl::StatusCode::kInvalidArgument;
constexpr ProgramInfo kTrainer = {
    .name = "semrank-train",
    .summary = "learns two towers",
    .usage = "Usage: semrank-train --train=FILE\n",
    .build_note = "with MPI"};

enum class Optimizer { kSgd, kAdam };

struct Options {
  double gamma = 10;
  int batch_size = 1024;
  std::uint64_t seed = 1;
  bool shared_towers = false;
  bool normalize = true;  // begins with "no"
  std::vector<std::string> train;
  std::vector<int> hidden = {300, 300};
  std::string model_dir;
  absl::Duration drain_delay = absl::Seconds(5);
  Optimizer optimizer = Optimizer::kAdam;
  std::optional<double> min_score;
};

// Sets a variable for the life of this object.
class EnvironmentVariable {
 public:
  EnvironmentVariable(const char* name, const std::string& value)
      : name_(name) {
    setenv(name, value.c_str(), /*overwrite=*/1);
  }
  ~EnvironmentVariable() { unsetenv(name_); }

 private:
  const char* name_;
};

class CommandLineTest : public ::testing::Test {
 protected:
  CommandLineTest() {
    command_line_.Group("Training");
    command_line_.Add("gamma", &options_.gamma, "Factor on the cosine.",
                      {.min = 0, .max = 100, .above_min = true});
    command_line_.Add("batch_size", &options_.batch_size,
                      "Pairs in a mini-batch.", {.min = 1, .max = 16384});
    command_line_.Add("shared_towers", &options_.shared_towers, "One tower.");
    command_line_.Group("Data");
    command_line_.Add("train", &options_.train, "Files of pairs.");
    command_line_.Add("model_dir", &options_.model_dir, "Folder.");
    command_line_.Group("Training", CommandLine::Level::kAdvanced);
    command_line_.Add("seed", &options_.seed, "Random seed.");
    command_line_.Add("hidden", &options_.hidden, "Sizes of hidden layers.",
                      {.min = 1, .max = 4096});
    command_line_.Add("optimizer", &options_.optimizer, "Optimizer.",
                      {{"sgd", Optimizer::kSgd}, {"adam", Optimizer::kAdam}});
    command_line_.Add("normalize", &options_.normalize, "Unit vectors.");
    command_line_.Add("min_score", &options_.min_score, "Least score.");
    command_line_.Add("drain_delay", &options_.drain_delay, "Time.",
                      {.max = absl::Hours(1)});
  }

  absl::Status Parse(const Args& args) {
    return command_line_.ParseArguments(args).status();
  }
  absl::Status ParseFile(std::string_view content) {
    return Parse({"--config=" + dir_.Write("train.toml", content)});
  }
  std::string Help(const std::string& flag) {
    return command_line_.ParseArguments({flag}).value_or("");
  }
  FlagValue Value(std::string_view name) {
    for (FlagValue& value : command_line_.Values()) {
      if (value.name == name) return value;
    }
    return {};
  }

  Options options_;
  CommandLine command_line_{kTrainer};
  TempDir dir_;
};

TEST_F(CommandLineTest, NoArgumentsLeaveTheDefaults) {
  ASSERT_THAT(Parse({}), IsOk());
  EXPECT_EQ(options_.gamma, 10);
  EXPECT_FALSE(command_line_.IsSet("gamma"));
}

TEST_F(CommandLineTest, ValueFollowsEqualsOrIsTheNextArgument) {
  ASSERT_THAT(Parse({"--gamma=20", "--batch_size", "5", "--train", "-"}),
              IsOk());
  EXPECT_EQ(options_.gamma, 20);
  EXPECT_EQ(options_.batch_size, 5);
  EXPECT_THAT(options_.train, ElementsAre("-"));
  ASSERT_THAT(Parse({"--min_score", "-5"}), IsOk());
  EXPECT_EQ(options_.min_score, -5);
}

TEST_F(CommandLineTest, ValueMayBeEmptyOrHoldAnyCharacter) {
  ASSERT_THAT(Parse({"--model_dir=a=b=--c", "--hidden="}), IsOk());
  EXPECT_EQ(options_.model_dir, "a=b=--c");
  EXPECT_THAT(options_.hidden, IsEmpty());
  ASSERT_THAT(Parse({"--model_dir=", "--seed=3"}), IsOk());
  EXPECT_EQ(options_.model_dir, "");
  EXPECT_EQ(options_.seed, 3u);
  ASSERT_THAT(Parse({"--model_dir=[a, b]"}), IsOk());
  EXPECT_EQ(options_.model_dir, "[a, b]");
  ASSERT_THAT(Parse({"--model_dir=--seed=3"}), IsOk());
  EXPECT_EQ(options_.model_dir, "--seed=3");
}

TEST_F(CommandLineTest, HugeValuesAreTakenWhole) {
  const std::string huge(1'000'000, 'x');
  ASSERT_THAT(Parse({"--model_dir=" + huge}), IsOk());
  EXPECT_EQ(options_.model_dir, huge);
  EXPECT_THAT(Parse({"--" + huge}), StatusIs(kWrong, HasSubstr("unknown")));
}

TEST_F(CommandLineTest, BooleanFlagsTakeNoNextArgument) {
  EXPECT_THAT(Parse({"--shared_towers", "false"}),
              StatusIs(kWrong, "unexpected argument 'false'"));
  ASSERT_THAT(Parse({"--shared_towers"}), IsOk());
  EXPECT_TRUE(options_.shared_towers);
  ASSERT_THAT(Parse({"--shared_towers=false"}), IsOk());
  EXPECT_FALSE(options_.shared_towers);
  ASSERT_THAT(Parse({"--shared_towers=true"}), IsOk());
  EXPECT_TRUE(options_.shared_towers);
}

TEST_F(CommandLineTest, NoTurnsBooleanFlagsOff) {
  ASSERT_THAT(Parse({"--shared_towers", "--noshared_towers"}), IsOk());
  EXPECT_FALSE(options_.shared_towers);
  ASSERT_THAT(Parse({"--nonormalize"}), IsOk());
  EXPECT_FALSE(options_.normalize);
  ASSERT_THAT(Parse({"--normalize"}), IsOk());
  EXPECT_TRUE(options_.normalize);
  EXPECT_THAT(Parse({"--nogamma"}),
              StatusIs(kWrong, HasSubstr("unknown flag --nogamma")));
}

TEST_F(CommandLineTest, LastValueWins) {
  ASSERT_THAT(Parse({"--gamma=1", "--gamma=2", "--train=a", "--train=b"}),
              IsOk());
  EXPECT_EQ(options_.gamma, 2);
  EXPECT_THAT(options_.train, ElementsAre("b"));
}

TEST_F(CommandLineTest, ListsHaveCommas) {
  ASSERT_THAT(Parse({"--train=a.tsv,b.tsv.gz,", "--hidden=64,32"}), IsOk());
  EXPECT_THAT(options_.train, ElementsAre("a.tsv", "b.tsv.gz"));
  EXPECT_THAT(options_.hidden, ElementsAre(64, 32));
}

TEST_F(CommandLineTest, NumbersAreDecimal) {
  ASSERT_THAT(Parse({"--batch_size=010", "--seed=18446744073709551615"}),
              IsOk());
  EXPECT_EQ(options_.batch_size, 10);
  EXPECT_EQ(options_.seed, std::numeric_limits<std::uint64_t>::max());
}

struct BadValueCase {
  std::string flag;
  std::string reason;
};
class BadValueTest : public CommandLineTest,
                     public ::testing::WithParamInterface<BadValueCase> {};

TEST_P(BadValueTest, IsNamedWithWhatWouldBeRight) {
  EXPECT_THAT(Parse({GetParam().flag}),
              StatusIs(kWrong, GetParam().flag + ": " + GetParam().reason));
  EXPECT_EQ(command_line_.ExitCode(Parse({GetParam().flag})), kExitWrongUse);
  EXPECT_EQ(options_.batch_size, 1024);
  EXPECT_EQ(options_.gamma, 10);
}
constexpr char kDuration[] =
    "must be a duration with a unit, such as 500ms, 10s or 1m30s, 0 to 1h";
INSTANTIATE_TEST_SUITE_P(
    Values, BadValueTest,
    ::testing::Values(
        BadValueCase{"--batch_size=0", "must be 1 to 16384"},
        BadValueCase{"--batch_size=99999999999999999999", "must be 1 to 16384"},
        BadValueCase{"--batch_size=-99999999999999999999",
                     "must be 1 to 16384"},
        BadValueCase{"--batch_size=", "must be a whole number, 1 to 16384"},
        BadValueCase{"--batch_size=0x10", "must be a whole number, 1 to 16384"},
        BadValueCase{"--batch_size=1e3", "must be a whole number, 1 to 16384"},
        BadValueCase{"--seed=-1", "must be 0 to 18446744073709551615"},
        BadValueCase{"--seed=x", "must be a whole number"},
        BadValueCase{"--gamma=0", "must be above 0, at most 100"},
        BadValueCase{"--gamma=nan", "must be above 0, at most 100"},
        BadValueCase{"--gamma=1e999", "must be above 0, at most 100"},
        BadValueCase{"--gamma=abc", "must be a number, above 0, at most 100"},
        BadValueCase{"--min_score=nan", "must be a finite number"},
        BadValueCase{"--min_score=", "must be a number"},
        BadValueCase{"--shared_towers=maybe", "must be true or false"},
        BadValueCase{"--optimizer=lbfgs", "must be one of sgd, adam"},
        BadValueCase{"--hidden=300,x", "must be a whole number, 1 to 4096"},
        BadValueCase{"--hidden=300,,300", "must be a whole number, 1 to 4096"},
        BadValueCase{"--hidden=300,0", "must be 1 to 4096"},
        BadValueCase{"--drain_delay=10", kDuration},
        BadValueCase{"--drain_delay=2h", "must be 0 to 1h"},
        BadValueCase{"--drain_delay=-1s", "must be 0 to 1h"}),
    [](const auto& tested) { return std::to_string(tested.index); });

TEST_F(CommandLineTest, ForgottenValueIsNamed) {
  EXPECT_THAT(Parse({"--gamma"}), StatusIs(kWrong, StartsWith("--gamma: ")));
  EXPECT_THAT(Parse({"--model_dir", "--shared_towers"}),
              StatusIs(kWrong, StartsWith("--model_dir: ")));
  EXPECT_THAT(Parse({"--config"}), StatusIs(kWrong, StartsWith("--config: ")));
}

TEST_F(CommandLineTest, UnknownFlagIsNamedWithANearMatch) {
  EXPECT_THAT(Parse({"--gama=3"}),
              StatusIs(kWrong, "unknown flag --gama (did you mean --gamma?)"));
  EXPECT_THAT(Parse({"-gamma=3"}),
              StatusIs(kWrong, "unknown flag -gamma (did you mean --gamma?)"));
  EXPECT_THAT(Parse({"--batch-size=3"}),
              StatusIs(kWrong, HasSubstr("did you mean --batch_size?")));
  EXPECT_THAT(Parse({"--noshared_tower"}),
              StatusIs(kWrong, HasSubstr("did you mean --noshared_towers?")));
  EXPECT_THAT(Parse({"--hlep"}),
              StatusIs(kWrong, HasSubstr("did you mean --help?")));
  EXPECT_THAT(Parse({"--zzzzzzzz"}),
              StatusIs(kWrong, "unknown flag --zzzzzzzz"));
  EXPECT_THAT(Parse({"--=3"}), StatusIs(kWrong, "unknown flag --"));
}

TEST_F(CommandLineTest, ArgumentsKeepTheirOrder) {
  Args words;
  EXPECT_THAT(Parse({"stray"}),
              StatusIs(kWrong, "unexpected argument 'stray'"));
  command_line_.AddArguments(&words);
  ASSERT_THAT(
      Parse({"[a]", "--gamma=3", "-", "-7", "", "--", "--gamma=4", "--"}),
      IsOk());
  EXPECT_THAT(words, ElementsAre("[a]", "-", "-7", "", "--gamma=4", "--"));
  EXPECT_EQ(options_.gamma, 3);
}

// Sources.

TEST_F(CommandLineTest, CommandLineBeatsEnvironmentBeatsFile) {
  const EnvironmentVariable gamma("SEMRANK_GAMMA", "2");
  const EnvironmentVariable batch_size("SEMRANK_BATCH_SIZE", "2");
  const EnvironmentVariable other("SEMRANK_OTHER_PROGRAM", "x");
  const std::string file =
      dir_.Write("train.toml", "gamma = 1\nbatch_size = 1\nseed = 7\n");
  ASSERT_THAT(Parse({"--gamma=3", "--config=" + file}), IsOk());
  EXPECT_EQ(options_.gamma, 3);
  EXPECT_EQ(options_.batch_size, 2);
  EXPECT_EQ(options_.seed, 7u);
  EXPECT_EQ(Value("gamma").source, "command line");
  EXPECT_EQ(Value("batch_size").source, "environment");
  EXPECT_EQ(Value("seed").source, "config file");
  EXPECT_EQ(Value("normalize").source, "default");
}

TEST_F(CommandLineTest, EmptyVariableIsAValue) {
  options_.model_dir = "models/shop";
  const EnvironmentVariable variable("SEMRANK_MODEL_DIR", "");
  ASSERT_THAT(Parse({}), IsOk());
  EXPECT_EQ(options_.model_dir, "");
}

TEST_F(CommandLineTest, BadValueInTheEnvironmentNamesTheVariable) {
  const EnvironmentVariable variable("SEMRANK_GAMMA", "abc");
  EXPECT_THAT(Parse({}),
              StatusIs(kWrong, StartsWith("SEMRANK_GAMMA=abc: must be")));
}

TEST_F(CommandLineTest, ConfigFileHasFlagsAsToml) {
  ASSERT_THAT(ParseFile("# a comment\n; another\n\n"
                        "gamma=1\r\n"
                        "  --batch_size = 2  \n"
                        "model_dir = \"a b, c#d\"\n"
                        "train = [\"a.tsv\", \"b.tsv\"]\n"
                        "hidden = 64,32\n"
                        "shared_towers\n"
                        "normalize = false\n"
                        "drain_delay=1m\n"
                        "optimizer='sgd'"),
              IsOk());
  EXPECT_EQ(options_.gamma, 1);
  EXPECT_EQ(options_.batch_size, 2);
  EXPECT_EQ(options_.model_dir, "a b, c#d");
  EXPECT_THAT(options_.train, ElementsAre("a.tsv", "b.tsv"));
  EXPECT_THAT(options_.hidden, ElementsAre(64, 32));
  EXPECT_TRUE(options_.shared_towers);
  EXPECT_FALSE(options_.normalize);
  EXPECT_EQ(options_.drain_delay, absl::Minutes(1));
  EXPECT_EQ(options_.optimizer, Optimizer::kSgd);
}

TEST_F(CommandLineTest, LaterConfigFilesWin) {
  const std::string first = dir_.Write("first", "gamma=1\nbatch_size=1\n");
  const std::string second = dir_.Write("second", "gamma=2\n");
  ASSERT_THAT(Parse({"--config", first, "--config", second}), IsOk());
  EXPECT_EQ(options_.gamma, 2);
  EXPECT_EQ(options_.batch_size, 1);
}

TEST_F(CommandLineTest, EnvironmentMayNameTheConfigFile) {
  const EnvironmentVariable variable("SEMRANK_CONFIG",
                                     dir_.Write("env", "gamma=1\n"));
  ASSERT_THAT(Parse({}), IsOk());
  EXPECT_EQ(options_.gamma, 1);
  ASSERT_THAT(Parse({"--config=" + dir_.Write("arg", "gamma=2\n")}), IsOk());
  EXPECT_EQ(options_.gamma, 2);
}

TEST_F(CommandLineTest, WrongConfigFilesAreNamed) {
  const std::string path = dir_.File("train.toml");
  EXPECT_THAT(
      ParseFile("\ngama=1\n"),
      StatusIs(kWrong, path + ": unknown flag gama (did you mean gamma?)"));
  EXPECT_THAT(ParseFile("gamma=x\n"),
              StatusIs(kWrong, StartsWith(path + ": gamma=x: must be")));
  EXPECT_THAT(ParseFile("model_dir=a b\n"),
              StatusIs(kWrong, AllOf(StartsWith(path + ": model_dir"),
                                     HasSubstr("quotes"))));
  EXPECT_THAT(ParseFile("batch_size = 1 # why\n"),
              StatusIs(kWrong, StartsWith(path + ": batch_size")));
  EXPECT_THAT(ParseFile("[rank]\ngamma=1\n"),
              StatusIs(kWrong, path + ": unknown section [rank]"));
  EXPECT_THAT(ParseFile("config=other\n"),
              StatusIs(kWrong, StartsWith(path + ": unknown flag config")));
  EXPECT_THAT(Parse({"--config=/nonexistent/f"}),
              StatusIs(kWrong, StartsWith("/nonexistent/f: ")));
  EXPECT_THAT(Parse({"--config=/"}), StatusIs(kWrong, StartsWith("/: ")));
}

TEST_F(CommandLineTest, ValuesAreWhatTheFieldsHoldNow) {
  ASSERT_THAT(Parse({"--gamma=0.1", "--train=a,b", "--drain_delay=90s"}),
              IsOk());
  options_.seed = 9;
  EXPECT_EQ(Value("gamma").value, "0.1");
  EXPECT_EQ(Value("train").value, "a,b");
  EXPECT_EQ(Value("hidden").value, "300,300");
  EXPECT_EQ(Value("drain_delay").value, "1m30s");
  EXPECT_EQ(Value("optimizer").value, "adam");
  EXPECT_EQ(Value("shared_towers").value, "false");
  EXPECT_EQ(Value("min_score").value, "");
  EXPECT_EQ(Value("seed").value, "9");
}

TEST_F(CommandLineTest, SecretsAreHiddenInValuesAndErrors) {
  std::string store = "none";
  command_line_.Add({.name = "store",
                     .help = "Store.",
                     .set =
                         [&store](const std::string& text) {
                           store = text;
                           return text == "bad:pw"
                                      ? absl::InvalidArgumentError("must be x")
                                      : absl::OkStatus();
                         },
                     .get = [&store] { return store; }});
  command_line_.HideSecrets("store", [](const std::string& text) {
    return text.substr(0, text.find(':')) + ":***";
  });
  EXPECT_THAT(Parse({"--store=bad:pw"}),
              StatusIs(kWrong, "--store=bad:***: must be x"));
  ASSERT_THAT(Parse({"--store=redis:pw"}), IsOk());
  EXPECT_EQ(store, "redis:pw");
  EXPECT_EQ(Value("store").value, "redis:***");
}

TEST_F(CommandLineTest, ApplySetsGivenFlagsOverOtherDefaults) {
  ASSERT_THAT(Parse({"--gamma=5"}), IsOk());
  options_ = Options();
  options_.batch_size = 1;
  ASSERT_THAT(command_line_.Apply(), IsOk());
  EXPECT_EQ(options_.gamma, 5);
  EXPECT_EQ(options_.batch_size, 1);
}

// Help.

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

// Parse prints and returns exit codes.

TEST_F(CommandLineTest, ParseGoesOnOrReturnsTheExitCode) {
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

// Commands.

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
