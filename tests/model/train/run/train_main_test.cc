// The built program, as people and scripts call it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "model/base/file_io.h"
#include "model/format/model_bundle.h"
#include "tests/support/run_program.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class TrainMainTest : public ::testing::Test {
 protected:
  ProgramResult Run(std::vector<std::string> flags) {
    flags.insert(flags.begin(), SEMRANK_BINARY_DIR "/semrank-train");
    return RunProgram(flags);
  }

  TempDir dir_;
  std::string train_ = "--train=" + dir_.Write("pairs.tsv",
                                               "cheap flights\tair fares\n"
                                               "broken line\n"
                                               "good pizza\titalian food\n");
  std::string model_ = "--model_dir=" + dir_.File("models/shop");
};

TEST_F(TrainMainTest, PublishesAModelAndSaysWhere) {
  const ProgramResult result = Run({train_, model_, "--epochs=2"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              StartsWith("published " + dir_.File("models/shop/1") + ": "));
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("pairs.tsv:2: "), HasSubstr("1 bad lines"),
                    HasSubstr("pairs/s")));
  EXPECT_THAT(LoadModel(dir_.File("models/shop")), IsOk());
}

TEST_F(TrainMainTest, AFailureLeavesNoEmptyFolder) {
  const std::string empty = "--train=" + dir_.Write("empty.tsv", "");
  EXPECT_EQ(Run({empty, model_}).exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(dir_.File("models")));
  std::filesystem::create_directories(dir_.File("models/shop"));
  EXPECT_EQ(Run({empty, model_ + "/"}).exit_code, 1);
  EXPECT_TRUE(std::filesystem::exists(dir_.File("models/shop")));
}

TEST_F(TrainMainTest, PresetAndLinearTowerTrainToo) {
  EXPECT_EQ(Run({train_, model_, "--preset=dssm2013", "--epochs=1"}).exit_code,
            0);
  EXPECT_EQ(Run({train_, model_, "--tower=linear", "--hidden=", "--epochs=1",
                 "--noshared_towers"})
                .exit_code,
            0);
  ASSERT_OK_AND_ASSIGN(const auto model, LoadModel(dir_.File("models/shop")));
  EXPECT_EQ(model->config().tower(), v1::TOWER_KIND_LINEAR);
  EXPECT_EQ(model->version().version, 2);
}

TEST_F(TrainMainTest, TellsOfFlagsThatHaveNoEffectAndOfNoOthers) {
  const ProgramResult result =
      Run({train_, model_, "--epochs=1", "--tower=linear", "--hidden=300"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("--hidden=300 has no effect with --tower=linear"),
                    Not(HasSubstr("--epochs"))));
}

// Each title of the training pairs begins with another query's word, but
// validation asks for its own: letters find it, and learning makes that worse.
TEST_F(TrainMainTest, AModelWorseThanLettersNeedsForce) {
  const auto word = [](char first, int i) {
    return std::string(3, static_cast<char>(first + i % 5)) +
           std::string(4, static_cast<char>('f' + i / 5));
  };
  std::string pairs, valid;
  for (int i = 0; i < 24; ++i) {
    const std::string query = word('a', i), next = word('a', (i + 1) % 24);
    pairs += query + "\t" + next + " " + word('p', (i + 1) % 24) + "\n";
    valid += "x" + query + "\t" + query + " " + word('p', i) + "\n";
  }
  const std::vector<std::string> flags = {
      "--train=" + dir_.Write("crossed.tsv", pairs),
      "--valid_pairs=" + dir_.Write("valid.tsv", valid),
      model_,
      "--lexical=none",
      "--learning_rate=0.01",
      "--epochs=20"};
  const ProgramResult refused = Run(flags);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("before training, validation loss"),
                    HasSubstr("ranks worse than letter TF-IDF: NDCG@10"),
                    HasSubstr("on 24 held-out queries"),
                    HasSubstr("--resume --force publishes")));
  EXPECT_FALSE(std::filesystem::exists(dir_.File("models/shop/1")));

  std::vector<std::string> forced = flags;
  forced.insert(forced.end(), {"--resume", "--force"});
  const ProgramResult result = Run(forced);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("; published because of --force"));
  EXPECT_THAT(LoadModel(dir_.File("models/shop")), IsOk());
}

TEST_F(TrainMainTest, WarnsOnceOfALossThatStaysAboveTheFirst) {
  const std::vector<std::string> flags = {train_, model_, "--tower=ssi",
                                          "--optimizer=sgd", "--epochs=6"};
  std::vector<std::string> too_fast = flags;
  too_fast.push_back("--learning_rate=100");
  const ProgramResult result = Run(too_fast);
  const std::string warning = "--learning_rate=100 may be too high";
  const std::size_t first = result.err.find(warning);
  ASSERT_NE(first, std::string::npos) << result.err;
  EXPECT_EQ(result.err.find(warning, first + 1), std::string::npos);
  EXPECT_THAT(Run(flags).err, Not(HasSubstr("may be too high")));
}

TEST_F(TrainMainTest, HelpNamesFlagsAndDefaults) {
  const ProgramResult result = Run({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("--gamma=NUMBER (default: 0; 0 to 1000)"),
                    HasSubstr("--embedding_dim=N (default: 256; "),
                    HasSubstr("dssm2013")));
}

TEST_F(TrainMainTest, PrintsOptionsWithoutTraining) {
  const ProgramResult result =
      Run({"--tower=ssi", "--epochs=3", "--print_options"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(
      result.out,
      AllOf(HasSubstr("epochs = 3"), HasSubstr("# command line"),
            HasSubstr("optimizer = adagrad"), HasSubstr("# --tower=ssi")));
}

TEST_F(TrainMainTest, TheModelKeepsItsOptions) {
  ASSERT_EQ(Run({train_, model_, "--epochs=2"}).exit_code, 0);
  ASSERT_OK_AND_ASSIGN(const auto model, LoadModel(dir_.File("models/shop")));
  const auto& options = model->config().training().options();
  EXPECT_THAT(options, Contains("--epochs=2"));
  EXPECT_THAT(options, Contains("--learning_rate_decay=cosine"));
  EXPECT_THAT(options, Contains("--gamma=10"));
  EXPECT_THAT(options, Not(Contains(StartsWith("--train="))));
}

TEST_F(TrainMainTest, AGivenTimeMakesTheSameFilesAgain) {
  for (const std::string run : {"a", "b"}) {
    const ProgramResult result = RunProgram(
        {"/usr/bin/env", "SOURCE_DATE_EPOCH=86400",
         SEMRANK_BINARY_DIR "/semrank-train", train_,
         "--model_dir=" + dir_.File(run + "/general"), "--epochs=1"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  ASSERT_OK_AND_ASSIGN(const auto model, LoadModel(dir_.File("a/general")));
  EXPECT_EQ(model->config().training().create_time().seconds(), 86'400);
  for (const std::string file :
       {"config.json", "weights.safetensors", "MANIFEST.json"}) {
    ASSERT_OK_AND_ASSIGN(const auto a,
                         ReadFile(dir_.File("a/general/1/" + file), 1 << 24));
    ASSERT_OK_AND_ASSIGN(const auto b,
                         ReadFile(dir_.File("b/general/1/" + file), 1 << 24));
    EXPECT_EQ(a, b) << file;
  }
}

struct WrongUseCase {
  std::string name;
  std::string flag;
};

class WrongUseTest : public TrainMainTest,
                     public ::testing::WithParamInterface<WrongUseCase> {};

TEST_P(WrongUseTest, ExitsWithTwoAndNamesTheFlag) {
  const ProgramResult result = Run({train_, model_, GetParam().flag});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr(GetParam().flag));
}

INSTANTIATE_TEST_SUITE_P(
    Flags, WrongUseTest,
    ::testing::Values(WrongUseCase{"Unknown", "--gama"},
                      WrongUseCase{"NotANumber", "--gamma=high"},
                      WrongUseCase{"OutOfRange", "--gamma=-1"},
                      WrongUseCase{"NotAName", "--tower=tall"},
                      WrongUseCase{"Argument", "pairs.tsv"}),
    [](const auto& tested) { return tested.param.name; });

TEST_F(TrainMainTest, FailureExitsWithOne) {
  const ProgramResult result =
      Run({"--train=" + dir_.File("none.tsv"), model_});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("none.tsv"));
  EXPECT_EQ(result.out, "");
}

}  // namespace
}  // namespace semrank
