#include "model/base/simd_level.h"
#include "tests/model/cli/command_line_fixture.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

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

TEST_F(CommandLineTest, AnEmptyVariableIsAsIfItWereUnset) {
  const EnvironmentVariable gamma("SEMRANK_GAMMA", "");
  const EnvironmentVariable model_dir("SEMRANK_MODEL_DIR", "");
  const EnvironmentVariable config("SEMRANK_CONFIG", "");
  ASSERT_THAT(ParseFile("model_dir = models/shop\n"), IsOk());
  EXPECT_EQ(options_.model_dir, "models/shop");
  EXPECT_EQ(Value("gamma").source, "default");
  EXPECT_THAT(Parse({}), IsOk());
}

TEST_F(CommandLineTest, BadValueInTheEnvironmentNamesTheVariable) {
  const EnvironmentVariable variable("SEMRANK_GAMMA", "abc");
  EXPECT_THAT(Parse({}),
              StatusIs(kWrong, StartsWith("SEMRANK_GAMMA=abc: must be")));
}

TEST_F(CommandLineTest, UnknownSimdLevelInTheEnvironmentNamesThoseThereAre) {
  const EnvironmentVariable variable("SEMRANK_SIMD", "avx2");
  EXPECT_THAT(Parse({}),
              StatusIs(kWrong, AllOf(HasSubstr("SEMRANK_SIMD is \"avx2\""),
                                     HasSubstr(SimdLevel()))));
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

TEST_F(CommandLineTest, CommentsMayFollowAValueInAConfigFile) {
  ASSERT_THAT(ParseFile("batch_size = 3 # why\n"
                        "model_dir = \"a # b\"\t# why\n"
                        "train = [\"a.tsv\", \"b#.tsv\"] # both\n"
                        "hidden = 64,32   # \"two\" layers\r\n"
                        "shared_towers # one\n"
                        "optimizer = sgd\n"
                        "# the end"),
              IsOk());
  EXPECT_EQ(options_.batch_size, 3);
  EXPECT_EQ(options_.model_dir, "a # b");
  EXPECT_THAT(options_.train, ElementsAre("a.tsv", "b#.tsv"));
  EXPECT_THAT(options_.hidden, ElementsAre(64, 32));
  EXPECT_TRUE(options_.shared_towers);
  EXPECT_EQ(options_.optimizer, Optimizer::kSgd);
  ASSERT_THAT(ParseFile("model_dir = a#b\ntrain = c.tsv # why\n"), IsOk());
  EXPECT_EQ(options_.model_dir, "a#b");
  ASSERT_THAT(ParseFile("model_dir = Bob's  # the shop\n"), IsOk());
  EXPECT_EQ(options_.model_dir, "Bob's");
  EXPECT_THAT(options_.train, ElementsAre("c.tsv"));
}

TEST_F(CommandLineTest, AnAddressInBracketsIsNoArray) {
  ASSERT_THAT(ParseFile("model_dir = [::1]:50051 # IPv6\r\ngamma=2\n"), IsOk());
  EXPECT_EQ(options_.model_dir, "[::1]:50051");
  EXPECT_EQ(options_.gamma, 2);
  ASSERT_THAT(ParseFile("train = [::1]:50051,[::2]:50052\n"), IsOk());
  EXPECT_THAT(options_.train, ElementsAre("[::1]:50051", "[::2]:50052"));
  ASSERT_THAT(ParseFile("train = [\"http://[::1]:8080\",\n\"b.tsv\"]\n"),
              IsOk());
  EXPECT_THAT(options_.train, ElementsAre("http://[::1]:8080", "b.tsv"));
}

TEST_F(CommandLineTest, AConfigFileMayBeginWithAByteOrderMark) {
  ASSERT_THAT(ParseFile("\xef\xbb\xbfmodel_dir = models/shop\n"), IsOk());
  EXPECT_EQ(options_.model_dir, "models/shop");
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
  EXPECT_THAT(
      ParseFile("--gama=1\n"),
      StatusIs(kWrong, path + ": unknown flag --gama (did you mean --gamma?)"));
  EXPECT_THAT(ParseFile("--gamma=x\n"),
              StatusIs(kWrong, StartsWith(path + ": --gamma=x: must be")));
  EXPECT_THAT(ParseFile("--gamma=1 --seed=2\n"),
              StatusIs(kWrong, StartsWith(path + ": --gamma has several")));
  EXPECT_THAT(ParseFile("--gamma secret\n"),
              StatusIs(kWrong, path + ": --gamma has no = before its value"));
  EXPECT_THAT(ParseFile("[rank]\ngamma=1\n"),
              StatusIs(kWrong, path + ": unknown section [rank]"));
  EXPECT_THAT(ParseFile("[rank]\n"),
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

TEST_F(CommandLineTest, ConfigOfTheValuesSetsThemAgain) {
  options_.min_score = 0.5;
  ASSERT_THAT(Parse({"--gamma=0.1", "--train=a,b", "--model_dir=a b",
                     "--drain_delay=90s", "--noshared_towers"}),
              IsOk());
  const std::string config = FormatConfig(command_line_.Values());
  EXPECT_THAT(config, HasSubstr("gamma=0.1\n"));
  EXPECT_THAT(config, HasSubstr("model_dir=\"a b\"\n"));
  EXPECT_THAT(config, HasSubstr("hidden=\"300,300\"\n"));
  options_ = TrainerOptions();
  ASSERT_THAT(ParseFile(config), IsOk());
  EXPECT_EQ(FormatConfig(command_line_.Values()), config);
}

TEST_F(CommandLineTest, ConfigQuotesWhatIsNoPlainValue) {
  for (const std::string value :
       {"", "[::1]:50051", "a\"b", "\"x\"", "'x'", "[a]", "'a b'", "'a',\"b\"",
        "\"it's\" #1", "it's \\\" so", "C:\\a b\\", "\\'\"\\", "a\\\\b's",
        "`a b`", " a\t#b ", "q=\"a\", 'b'", "sch\u00f6n #\u2713", "a#b", "#"}) {
    ASSERT_THAT(Parse({"--model_dir=" + value, "--min_score=0"}), IsOk());
    const std::string config = FormatConfig(command_line_.Values());
    options_ = TrainerOptions();
    ASSERT_THAT(ParseFile(config), IsOk()) << config;
    EXPECT_EQ(options_.model_dir, value);
  }
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

TEST_F(CommandLineTest, SetDefaultLeavesGivenFlagsAlone) {
  ASSERT_THAT(Parse({"--gamma=5"}), IsOk());
  ASSERT_THAT(command_line_.SetDefault("gamma", "7", "recipe"), IsOk());
  ASSERT_THAT(command_line_.SetDefault("batch_size", "8", "recipe"), IsOk());
  EXPECT_EQ(options_.gamma, 5);
  EXPECT_EQ(Value("gamma").source, "command line");
  EXPECT_EQ(options_.batch_size, 8);
  EXPECT_EQ(Value("batch_size").source, "recipe");
  EXPECT_FALSE(command_line_.IsSet("batch_size"));
  EXPECT_THAT(command_line_.SetDefault("batch_size", "x", "recipe"),
              StatusIs(kWrong, testing::HasSubstr("--batch_size=x of recipe")));
}

}  // namespace
}  // namespace semrank
