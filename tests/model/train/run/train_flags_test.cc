#include "model/train/run/train_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/base/status_macros.h"
#include "model/cli/command_line.h"
#include "tests/model/train/recipe_options.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TrainFlagsTest : public ::testing::Test {
 protected:
  // The options that `arguments` ask for.
  static absl::StatusOr<TrainOptions> Parse(
      std::vector<std::string> arguments) {
    TrainFlags flags;
    arguments.insert(arguments.begin(), {"--train=pairs.tsv", "--model_dir=m"});
    CommandLine command_line({.name = "semrank-train"});
    AddTrainFlags(command_line, flags);
    SEMRANK_RETURN_IF_ERROR(command_line.ParseArguments(arguments).status());
    SEMRANK_RETURN_IF_ERROR(ResolveFlags(command_line, flags));
    return flags.options;
  }
};

TEST_F(TrainFlagsTest, WithoutFlagsTheDefaultsOfTheOptions) {
  ASSERT_OK_AND_ASSIGN(const TrainOptions options, Parse({}));
  const TrainOptions defaults = DefaultOptions(v1::TOWER_KIND_LINEAR);
  EXPECT_EQ(options.tower.kind, v1::TOWER_KIND_LINEAR);
  EXPECT_EQ(options.tower.shared, defaults.tower.shared);
  EXPECT_EQ(options.tower.embedding_dim, 256);
  EXPECT_EQ(options.loss.gamma, defaults.loss.gamma);
  EXPECT_EQ(options.loss.sampling, defaults.loss.sampling);
  EXPECT_EQ(options.optimizer.kind, defaults.optimizer.kind);
  EXPECT_EQ(options.epochs, defaults.epochs);
}

TEST_F(TrainFlagsTest, HelpShowsTheDefaultsThatHold) {
  TrainFlags flags;
  CommandLine command_line({.name = "semrank-train"});
  AddTrainFlags(command_line, flags);
  const std::string help =
      command_line.ParseArguments({"--help-all"}).value_or("");
  for (const char* shown :
       {"--tower=dssm|linear|clsm|ssi (default: linear)",
        "--embedding_dim=N (default: 256;", "(default: adam)",
        "(default: in_batch)", "(default: letters+bigrams)",
        "(default: cosine)", "(default: auto)"}) {
    EXPECT_THAT(help, HasSubstr(shown));
  }
}

// The name is longer than file systems allow, which is another error than "not
// found".
TEST_F(TrainFlagsTest, AStartThatCannotBeLookedForIsNamed) {
  const std::string start = std::string(300, 'a') + "/3";
  const absl::Status status = Parse({"--init_from=" + start}).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr(start));
}

TEST_F(TrainFlagsTest, FlagsBecomeOptions) {
  ASSERT_OK_AND_ASSIGN(
      const TrainOptions options,
      Parse({"--train=a.tsv,b.tsv.gz", "--features=letters+words",
             "--hidden=64", "--tower=dssm", "--activation=tanh",
             "--shared_towers=false", "--negative_sampling=uniform",
             "--negatives=50", "--optimizer=adagrad", "--warmup_batches=100",
             "--learning_rate_decay=linear", "--seed=18446744073709551615",
             "--valid_candidates=judged"}));
  EXPECT_THAT(options.data.train_files, ElementsAre("a.tsv", "b.tsv.gz"));
  EXPECT_EQ(options.features.kind, v1::FEATURE_KIND_LETTERS_AND_WORDS);
  EXPECT_THAT(options.tower.hidden_dims, ElementsAre(64));
  EXPECT_EQ(options.tower.kind, v1::TOWER_KIND_DSSM);
  EXPECT_EQ(options.tower.activation, v1::ACTIVATION_TANH);
  EXPECT_FALSE(options.tower.shared);
  EXPECT_EQ(options.loss.sampling, v1::NEGATIVE_SAMPLING_UNIFORM);
  EXPECT_EQ(options.loss.negatives, 50);
  EXPECT_EQ(options.optimizer.kind, v1::OPTIMIZER_ADAGRAD);
  EXPECT_EQ(options.optimizer.warmup_batches, 100);
  EXPECT_EQ(options.optimizer.decay, v1::LEARNING_RATE_DECAY_LINEAR);
  EXPECT_EQ(options.seed, 18446744073709551615u);
  EXPECT_TRUE(options.data.valid_judged_only);
}

TEST_F(TrainFlagsTest, HiddenLayersStandForDssm) {
  ASSERT_OK_AND_ASSIGN(const TrainOptions options, Parse({"--hidden=300,300"}));
  EXPECT_EQ(options.tower.kind, v1::TOWER_KIND_DSSM);
  EXPECT_THAT(options.tower.hidden_dims, ElementsAre(300, 300));
  EXPECT_EQ(options.tower.embedding_dim, 128);
}

TEST_F(TrainFlagsTest, HiddenMayBeEmpty) {
  ASSERT_OK_AND_ASSIGN(const TrainOptions options, Parse({"--hidden="}));
  EXPECT_THAT(options.tower.hidden_dims, IsEmpty());
}

TEST_F(TrainFlagsTest, ClsmHasOneHiddenLayerUnlessTold) {
  ASSERT_OK_AND_ASSIGN(TrainOptions options,
                       Parse({"--tower=clsm", "--window=5", "--biases=false"}));
  EXPECT_THAT(options.tower.hidden_dims, ElementsAre(300));
  EXPECT_EQ(options.tower.clsm_window, 5);
  EXPECT_FALSE(options.tower.biases);
  ASSERT_OK_AND_ASSIGN(options, Parse({"--tower=clsm", "--window=5",
                                       "--biases=false", "--hidden=40,30"}));
  EXPECT_THAT(options.tower.hidden_dims, ElementsAre(40, 30));
}

TEST_F(TrainFlagsTest, SsiBringsItsOwnDefaults) {
  ASSERT_OK_AND_ASSIGN(const TrainOptions options,
                       Parse({"--tower=ssi", "--ssi=symmetric", "--margin=2"}));
  EXPECT_EQ(options.features.kind, v1::FEATURE_KIND_WORDS);
  EXPECT_EQ(options.optimizer.kind, v1::OPTIMIZER_ADAGRAD);
  EXPECT_EQ(options.ssi.variant, v1::SSI_VARIANT_SYMMETRIC);
  EXPECT_EQ(options.loss.margin, 2);
}

// Also when the value is the default of a run without preset.
TEST_F(TrainFlagsTest, FlagsWinOverThePreset) {
  ASSERT_OK_AND_ASSIGN(
      const TrainOptions options,
      Parse({"--preset=dssm2013", "--optimizer=adam", "--gamma=15"}));
  EXPECT_EQ(options.optimizer.kind, v1::OPTIMIZER_ADAM);
  EXPECT_EQ(options.loss.gamma, 15);
  EXPECT_EQ(options.loss.sampling, v1::NEGATIVE_SAMPLING_UNIFORM);
}

TEST_F(TrainFlagsTest, UnknownPresetIsNamed) {
  EXPECT_THAT(Parse({"--preset=bert"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--preset=bert: ")));
}

TEST_F(TrainFlagsTest, PrintedOptionsAreExplicitAndNameTheirSource) {
  TrainFlags flags;
  CommandLine command_line({.name = "semrank-train"});
  AddTrainFlags(command_line, flags);
  ASSERT_THAT(command_line.ParseArguments({"--preset=clsm2014", "--gamma=7"}),
              IsOk());
  ASSERT_OK_AND_ASSIGN(const std::string text,
                       DescribeOptions(command_line, flags));
  for (const char* pattern :
       {"\ngamma = 7 +# command line\n",
        "\nnegatives = 50 +# --preset=clsm2014\n",
        "\nbatch_size = 1024 +# --preset=clsm2014\n",
        "\nvalid_fraction = 0.05 +# default \\(-1\\)\n",
        "\nearly_stopping = auto +# default; the data decide: loss with 1000",
        "\nactivation = tanh +# default", "\ntrain = \"\" +# default\n"}) {
    EXPECT_THAT(text, testing::ContainsRegex(pattern));
  }
}

TEST_F(TrainFlagsTest, PrintedOptionsSayWhatTheDataDecide) {
  const auto describe = [](const std::vector<std::string>& arguments) {
    TrainFlags flags;
    CommandLine command_line({.name = "semrank-train"});
    AddTrainFlags(command_line, flags);
    EXPECT_THAT(command_line.ParseArguments(arguments), IsOk());
    return DescribeOptions(command_line, flags).value_or("");
  };
  for (const char* pattern :
       {"\ngamma = 0 +# default; the data decide: 10 when the training pairs "
        "have fewer than 20000 distinct queries, otherwise 15\n",
        "\nlogq = -1 +# default; the data decide: 0.5 when a pair finds",
        "\nlexical = auto +# default; the data decide: the weight that fits"}) {
    EXPECT_THAT(describe({}), testing::ContainsRegex(pattern));
  }
  EXPECT_THAT(describe({"--preset=dssm2013", "--early_stopping=last"}),
              testing::Not(HasSubstr("the data decide")));
}

// What a run uses can be given to another run as a file.
TEST_F(TrainFlagsTest, PrintedOptionsAreAConfigFile) {
  const TempDir dir;
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{},
        {"--tower=dssm", "--hidden=40,30"},
        {"--tower=clsm"},
        {"--tower=ssi", "--ssi=diagonal"},
        {"--tower=ssi"},
        {"--preset=dssm2013"},
        {"--preset=clsm2014"},
        {"--preset=ssi2009", "--train=a b.tsv"},
        {"--model_dir=it's \"a\\b\" #1"}}) {
    const auto describe = [](const std::vector<std::string>& given) {
      TrainFlags flags;
      CommandLine command_line({.name = "semrank-train"});
      AddTrainFlags(command_line, flags);
      EXPECT_THAT(command_line.ParseArguments(given), IsOk());
      EXPECT_THAT(DescribeOptions(command_line, flags), IsOk());
      std::vector<std::string> values;
      for (const FlagValue& flag : command_line.Values()) {
        values.push_back(flag.name + "=" + flag.value);
      }
      return std::pair(DescribeOptions(command_line, flags).value_or(""),
                       values);
    };
    const auto [text, values] = describe(arguments);
    const auto [again, same_values] =
        describe({"--config=" + dir.Write("options.conf", text)});
    EXPECT_EQ(same_values, values);
  }
}

TEST_F(TrainFlagsTest, HelpListsTheRecipes) {
  TrainFlags flags;
  CommandLine command_line({.name = "semrank-train"});
  AddTrainFlags(command_line, flags);
  const std::string help = command_line.ParseArguments({"--help"}).value_or("");
  for (const char* shown : {"--tower=ssi\n", "--preset=dssm2013\n",
                            "negative_sampling=uniform negatives=4"}) {
    EXPECT_THAT(help, HasSubstr(shown));
  }
}

}  // namespace
}  // namespace semrank
