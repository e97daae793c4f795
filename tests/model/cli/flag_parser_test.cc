#include "model/cli/flag_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>

#include "absl/flags/flag.h"
#include "absl/flags/reflection.h"
#include "absl/time/time.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

ABSL_FLAG(double, gamma, 10, "Smoothing.");
ABSL_FLAG(int, batch_size, 1024, "Pairs.");
ABSL_FLAG(std::uint64_t, cache_bytes, 0, "Bytes.");
ABSL_FLAG(bool, shared_towers, false, "One tower.");
ABSL_FLAG(bool, normalize, true, "Begins with no.");
ABSL_FLAG(std::string, train, "", "File.");
ABSL_FLAG(absl::Duration, drain_delay, absl::Seconds(5), "Time.");

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

using Args = std::vector<std::string>;
constexpr absl::StatusCode kWrong = absl::StatusCode::kInvalidArgument;

class FlagParserTest : public ::testing::Test {
 protected:
  absl::StatusOr<ParsedArguments> Parse(const Args& args) {
    return ParseFlags(table_, args, [this](const std::string& name) {
      const auto found = environment_.find(name);
      return found == environment_.end() ? std::nullopt
                                         : std::make_optional(found->second);
    });
  }

  absl::FlagSaver saver_;
  FlagTable table_{"flag_parser_test.cc"};
  std::map<std::string, std::string> environment_;
  TempDir dir_;
};

TEST_F(FlagParserTest, FlagsMayComeFromSeveralSources) {
  const FlagTable both("flag_parser_test.cc foreign_flag.cc");
  EXPECT_NE(both.Find("gamma"), nullptr);
  EXPECT_NE(both.Find("library_level"), nullptr);
  EXPECT_EQ(table_.Find("library_level"), nullptr);
  EXPECT_THAT(FlagTable("").flags(), IsEmpty());
}

TEST_F(FlagParserTest, NoArgumentsLeaveTheDefaults) {
  ASSERT_OK_AND_ASSIGN(const ParsedArguments parsed, Parse({}));
  EXPECT_THAT(parsed.positional, IsEmpty());
  EXPECT_FALSE(parsed.help || parsed.version);
  EXPECT_EQ(absl::GetFlag(FLAGS_gamma), 10);
}

TEST_F(FlagParserTest, ValueFollowsEqualsOrIsTheNextArgument) {
  ASSERT_THAT(Parse({"--gamma=20", "--batch_size", "-5", "--train", "-"}),
              IsOk());
  EXPECT_EQ(absl::GetFlag(FLAGS_gamma), 20);
  EXPECT_EQ(absl::GetFlag(FLAGS_batch_size), -5);
  EXPECT_EQ(absl::GetFlag(FLAGS_train), "-");
}

TEST_F(FlagParserTest, ValueMayBeEmptyOrHoldEquals) {
  ASSERT_THAT(Parse({"--train=a=b=--c"}), IsOk());
  EXPECT_EQ(absl::GetFlag(FLAGS_train), "a=b=--c");
  ASSERT_THAT(Parse({"--train="}), IsOk());
  EXPECT_EQ(absl::GetFlag(FLAGS_train), "");
}

TEST_F(FlagParserTest, BooleanFlagsTakeNoNextArgument) {
  ASSERT_OK_AND_ASSIGN(const ParsedArguments parsed,
                       Parse({"--shared_towers", "false"}));
  EXPECT_TRUE(absl::GetFlag(FLAGS_shared_towers));
  EXPECT_THAT(parsed.positional, ElementsAre("false"));
  ASSERT_THAT(Parse({"--shared_towers=false"}), IsOk());
  EXPECT_FALSE(absl::GetFlag(FLAGS_shared_towers));
}

TEST_F(FlagParserTest, NoTurnsBooleanFlagsOff) {
  ASSERT_THAT(Parse({"--shared_towers", "--noshared_towers"}), IsOk());
  EXPECT_FALSE(absl::GetFlag(FLAGS_shared_towers));
  ASSERT_THAT(Parse({"--nonormalize"}), IsOk());
  EXPECT_FALSE(absl::GetFlag(FLAGS_normalize));
  ASSERT_THAT(Parse({"--normalize"}), IsOk());
  EXPECT_TRUE(absl::GetFlag(FLAGS_normalize));
  EXPECT_THAT(Parse({"--noshared_towers=true"}),
              StatusIs(kWrong, HasSubstr("--noshared_towers=true")));
  EXPECT_THAT(Parse({"--nogamma"}),
              StatusIs(kWrong, HasSubstr("unknown flag --nogamma")));
}

TEST_F(FlagParserTest, LastValueWins) {
  ASSERT_THAT(Parse({"--gamma=1", "--gamma=2"}), IsOk());
  EXPECT_EQ(absl::GetFlag(FLAGS_gamma), 2);
}

TEST_F(FlagParserTest, PositionalArgumentsKeepTheirOrder) {
  ASSERT_OK_AND_ASSIGN(
      const ParsedArguments parsed,
      Parse({"rank", "--gamma=3", "-", "-7", "", "--", "--gamma=4", "--"}));
  EXPECT_THAT(parsed.positional,
              ElementsAre("rank", "-", "-7", "", "--gamma=4", "--"));
  EXPECT_EQ(absl::GetFlag(FLAGS_gamma), 3);
}

TEST_F(FlagParserTest, UnknownFlagIsNamedWithANearMatch) {
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

TEST_F(FlagParserTest, FlagsOfLibrariesAreUnknown) {
  ASSERT_NE(absl::FindCommandLineFlag("library_level"), nullptr);
  EXPECT_THAT(Parse({"--library_level=1"}),
              StatusIs(kWrong, "unknown flag --library_level"));
}

TEST_F(FlagParserTest, ForgottenValueIsNamed) {
  EXPECT_THAT(Parse({"--gamma"}), StatusIs(kWrong, StartsWith("--gamma: ")));
  EXPECT_THAT(Parse({"--gamma", "--shared_towers"}),
              StatusIs(kWrong, StartsWith("--gamma: ")));
  EXPECT_THAT(Parse({"--flagfile"}),
              StatusIs(kWrong, StartsWith("--flagfile: ")));
}

TEST_F(FlagParserTest, BadValueIsNamedWithWhatIsWanted) {
  EXPECT_THAT(Parse({"--gamma=abc"}),
              StatusIs(kWrong, "--gamma=abc: want a number"));
  EXPECT_THAT(Parse({"--batch_size", "99999999999"}),
              StatusIs(kWrong,
                       "--batch_size=99999999999: want a whole number from "
                       "-2147483648 to 2147483647"));
  EXPECT_THAT(Parse({"--cache_bytes=-1"}),
              StatusIs(kWrong, HasSubstr("from 0 to")));
  EXPECT_THAT(Parse({"--shared_towers=maybe"}),
              StatusIs(kWrong, "--shared_towers=maybe: want true or false"));
  EXPECT_THAT(Parse({"--drain_delay=10"}),
              StatusIs(kWrong, HasSubstr("500ms")));
  EXPECT_EQ(absl::GetFlag(FLAGS_batch_size), 1024);
}

TEST_F(FlagParserTest, HelpAndVersionWinOverWhatFollows) {
  EXPECT_TRUE(Parse({"--help", "--nonsense"})->help);
  EXPECT_TRUE(Parse({"rank", "-h"})->help);
  EXPECT_TRUE(Parse({"--version"})->version);
  environment_["SEMRANK_GAMMA"] = "abc";
  EXPECT_TRUE(Parse({"--help"})->help);
  EXPECT_FALSE(Parse({"--gamma=1", "--", "--help"}).ok());
}

TEST_F(FlagParserTest, EnvironmentSetsFlagsTheCommandLineWins) {
  environment_ = {{"SEMRANK_GAMMA", "5"},
                  {"SEMRANK_BATCH_SIZE", "64"},
                  {"SEMRANK_SHARED_TOWERS", "1"},
                  {"SEMRANK_OTHER_PROGRAM", "x"}};
  ASSERT_THAT(Parse({"--gamma=6"}), IsOk());
  EXPECT_EQ(absl::GetFlag(FLAGS_gamma), 6);
  EXPECT_EQ(absl::GetFlag(FLAGS_batch_size), 64);
  EXPECT_TRUE(absl::GetFlag(FLAGS_shared_towers));
}

TEST_F(FlagParserTest, BadValueInTheEnvironmentNamesTheVariable) {
  environment_["SEMRANK_GAMMA"] = "abc";
  EXPECT_THAT(Parse({"--gamma=6"}),
              StatusIs(kWrong, "SEMRANK_GAMMA=abc: want a number"));
}

TEST_F(FlagParserTest, FlagFileIsWeakerThanTheEnvironment) {
  const std::string file = dir_.Write("flags",
                                      "# a comment\n\n"
                                      "gamma=1\r\n"
                                      "  --batch_size = 2  \n"
                                      "--train=a b=c\n"
                                      "shared_towers\n"
                                      "--nonormalize\n"
                                      "cache_bytes=3");
  environment_["SEMRANK_BATCH_SIZE"] = "20";
  ASSERT_THAT(Parse({"--cache_bytes=300", "--flagfile=" + file}), IsOk());
  EXPECT_EQ(absl::GetFlag(FLAGS_gamma), 1);
  EXPECT_EQ(absl::GetFlag(FLAGS_batch_size), 20);
  EXPECT_EQ(absl::GetFlag(FLAGS_train), "a b=c");
  EXPECT_TRUE(absl::GetFlag(FLAGS_shared_towers));
  EXPECT_FALSE(absl::GetFlag(FLAGS_normalize));
  EXPECT_EQ(absl::GetFlag(FLAGS_cache_bytes), 300u);
}

TEST_F(FlagParserTest, LaterFlagFilesWin) {
  const std::string first = dir_.Write("first", "gamma=1\nbatch_size=1\n");
  const std::string second = dir_.Write("second", "gamma=2\n");
  ASSERT_THAT(Parse({"--flagfile", first, "--flagfile", second}), IsOk());
  EXPECT_EQ(absl::GetFlag(FLAGS_gamma), 2);
  EXPECT_EQ(absl::GetFlag(FLAGS_batch_size), 1);
}

TEST_F(FlagParserTest, EnvironmentMayNameTheFlagFile) {
  environment_["SEMRANK_FLAGFILE"] = dir_.Write("env", "gamma=1\n");
  ASSERT_THAT(Parse({}), IsOk());
  EXPECT_EQ(absl::GetFlag(FLAGS_gamma), 1);
  ASSERT_THAT(Parse({"--flagfile=" + dir_.Write("arg", "gamma=2\n")}), IsOk());
  EXPECT_EQ(absl::GetFlag(FLAGS_gamma), 2);
}

TEST_F(FlagParserTest, BadLinesOfFlagFilesAreNamed) {
  const auto parse_file = [this](std::string_view content) {
    return Parse({"--flagfile=" + dir_.Write("flags", content)});
  };
  const std::string path = dir_.File("flags");
  EXPECT_THAT(parse_file("\ngama=1\n"),
              StatusIs(kWrong, path + ":2: unknown flag --gama (did you mean "
                                      "--gamma?)"));
  EXPECT_THAT(parse_file("gamma=x\n"),
              StatusIs(kWrong, path + ":1: --gamma=x: want a number"));
  EXPECT_THAT(parse_file("gamma\n"),
              StatusIs(kWrong, HasSubstr(path + ":1: --gamma: ")));
  EXPECT_THAT(parse_file("flagfile=other\n"),
              StatusIs(kWrong, HasSubstr(path + ":1: ")));
}

TEST_F(FlagParserTest, MissingFlagFileIsNamedWithWhoAskedForIt) {
  EXPECT_THAT(Parse({"--flagfile=/nonexistent/f"}),
              StatusIs(kWrong, AllOf(StartsWith("--flagfile=/nonexistent/f: "),
                                     HasSubstr("No such file"))));
  environment_["SEMRANK_FLAGFILE"] = "/nonexistent/g";
  EXPECT_THAT(Parse({}), StatusIs(kWrong, StartsWith("SEMRANK_FLAGFILE=")));
}

}  // namespace
}  // namespace semrank
