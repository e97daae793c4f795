// The built program, as people and scripts call it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
using ::testing::HasSubstr;
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

TEST_F(TrainMainTest, BeginsFromAPublishedModelAndKeepsItsVocabulary) {
  for (const std::string tower : {"dssm", "linear", "clsm"}) {
    const std::string first = dir_.File("first_" + tower);
    const std::string second = dir_.File("second_" + tower);
    ASSERT_EQ(Run({train_, "--model_dir=" + first, "--tower=" + tower,
                   "--features=letters+words", "--ngram_length=2",
                   "--embedding_dim=8", "--noshared_towers", "--epochs=1"})
                  .exit_code,
              0);
    // A step too small to change a weight, on other words.
    const ProgramResult result =
        Run({"--train=" + dir_.Write("other.tsv", "red wine\tdrinks\na\tb\n"),
             "--model_dir=" + second, "--init_from=" + first, "--epochs=1",
             "--optimizer=sgd", "--learning_rate=1e-30"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    for (const char* file :
         {"/1/weights.safetensors", "/1/ngrams.txt", "/1/words.txt"}) {
      EXPECT_EQ(*ReadFile(second + file, 1 << 24),
                *ReadFile(first + file, 1 << 24));
    }
    ASSERT_OK_AND_ASSIGN(const auto from, LoadModel(first));
    ASSERT_OK_AND_ASSIGN(const auto to, LoadModel(second));
    EXPECT_EQ(to->config().training().init_weights_sha256(),
              from->version().weights_sha256);
  }
}

TEST_F(TrainMainTest, FlagsThatContradictTheInitialModelAreRefused) {
  ASSERT_EQ(Run({train_, model_, "--hidden=7", "--epochs=1"}).exit_code, 0);
  const std::string init = "--init_from=" + dir_.File("models/shop/1");
  for (const auto& [flag, reason] :
       {std::pair{"--hidden=8", "has 7"},
        {"--tower=linear", "TOWER_KIND_DSSM"},
        {"--embedding_dim=16", "has 128"},
        {"--noshared_towers", "has true"},
        {"--features=words", "FEATURE_KIND_LETTERS"},
        {"--hash_buckets=64", "has 0"}}) {
    const ProgramResult result = Run({train_, model_, init, flag});
    EXPECT_EQ(result.exit_code, 2) << flag;
    EXPECT_THAT(result.err, HasSubstr(reason)) << flag;
  }
  EXPECT_EQ(Run({train_, model_, init, "--hidden=7", "--epochs=1"}).exit_code,
            0);
  EXPECT_EQ(Run({train_, model_, "--init_from=" + dir_.File("none")}).exit_code,
            1);
}

TEST_F(TrainMainTest, HelpNamesFlagsAndDefaults) {
  const ProgramResult result = Run({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, AllOf(HasSubstr("--gamma=VALUE (default: "),
                                HasSubstr("--hidden=VALUE (default: 300,300"),
                                HasSubstr("dssm2013")));
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
