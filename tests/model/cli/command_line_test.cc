#include <limits>

#include "tests/model/cli/command_line_fixture.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

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

TEST_F(CommandLineTest, HugeValuesAreReadWhole) {
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

TEST_F(CommandLineTest, NegatedFlagTakesNoValue) {
  for (const char* value : {"3", "false", ""}) {
    EXPECT_THAT(
        Parse({std::string("--noshared_towers=") + value}),
        StatusIs(kWrong, StartsWith("--noshared_towers: takes no value")));
  }
}

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

// CLI11 ends a command at "++".
TEST_F(CommandLineTest, TwoPlusSignsAreAnArgumentLikeAnyOther) {
  Args words;
  command_line_.AddArguments(&words);
  ASSERT_THAT(Parse({"c", "++", "--model_dir=++", "++"}), IsOk());
  EXPECT_THAT(words, ElementsAre("c", "++", "++"));
  EXPECT_EQ(options_.model_dir, "++");
}

}  // namespace
}  // namespace semrank
