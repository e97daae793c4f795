#include "model/train/train_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "absl/flags/reflection.h"
#include "model/train/options/presets.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TrainFlagsTest : public ::testing::Test {
 protected:
  static void Set(const char* name, const char* value) {
    absl::CommandLineFlag* flag = absl::FindCommandLineFlag(name);
    ASSERT_NE(flag, nullptr) << name;
    std::string error;
    ASSERT_TRUE(flag->ParseFrom(value, &error)) << error;
  }

  absl::FlagSaver restore_;
};

TEST_F(TrainFlagsTest, WithoutFlagsTheDefaultsOfTheOptions) {
  ASSERT_OK_AND_ASSIGN(const TrainOptions options, TrainOptionsFromFlags());
  const TrainOptions defaults = DefaultOptions(v1::TOWER_KIND_LINEAR);
  EXPECT_EQ(options.tower.kind, v1::TOWER_KIND_LINEAR);
  EXPECT_EQ(options.tower.shared, defaults.tower.shared);
  EXPECT_EQ(options.tower.embedding_dim, 256);
  EXPECT_EQ(options.loss.gamma, defaults.loss.gamma);
  EXPECT_EQ(options.loss.sampling, defaults.loss.sampling);
  EXPECT_EQ(options.optimizer.kind, defaults.optimizer.kind);
  EXPECT_EQ(options.epochs, defaults.epochs);
}

// --help shows the flag's own default, which must be what holds.
TEST_F(TrainFlagsTest, ShownDefaultsAreTheOnesThatHold) {
  for (const char* name :
       {"features", "tower", "negative_sampling", "optimizer", "embedding_dim",
        "learning_rate_decay", "early_stopping"}) {
    absl::CommandLineFlag* flag = absl::FindCommandLineFlag(name);
    ASSERT_NE(flag, nullptr) << name;
    Set(name, flag->DefaultValue().c_str());
  }
  ASSERT_OK_AND_ASSIGN(const TrainOptions options, TrainOptionsFromFlags());
  const TrainOptions defaults = DefaultOptions(v1::TOWER_KIND_LINEAR);
  EXPECT_EQ(options.features.kind, defaults.features.kind);
  EXPECT_EQ(options.tower.kind, defaults.tower.kind);
  EXPECT_EQ(options.tower.embedding_dim, defaults.tower.embedding_dim);
  EXPECT_EQ(options.loss.sampling, defaults.loss.sampling);
  EXPECT_EQ(options.optimizer.kind, defaults.optimizer.kind);
  EXPECT_EQ(options.optimizer.decay, defaults.optimizer.decay);
  EXPECT_EQ(options.early_stopping, defaults.early_stopping);
}

TEST_F(TrainFlagsTest, FlagsBecomeOptions) {
  Set("train", "a.tsv,b.tsv.gz");
  Set("features", "letters+words");
  Set("hidden", "64");
  Set("tower", "linear");
  Set("activation", "tanh");
  Set("shared_towers", "false");
  Set("negative_sampling", "uniform");
  Set("negatives", "50");
  Set("optimizer", "adagrad");
  Set("warmup_batches", "100");
  Set("learning_rate_decay", "linear");
  Set("seed", "18446744073709551615");
  Set("valid_candidates", "judged");
  ASSERT_OK_AND_ASSIGN(const TrainOptions options, TrainOptionsFromFlags());
  EXPECT_THAT(options.data.train_files, ElementsAre("a.tsv", "b.tsv.gz"));
  EXPECT_EQ(options.features.kind, v1::FEATURE_KIND_LETTERS_AND_WORDS);
  EXPECT_THAT(options.tower.hidden_dims, ElementsAre(64));
  EXPECT_EQ(options.tower.kind, v1::TOWER_KIND_LINEAR);
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
  Set("hidden", "300,300");
  ASSERT_OK_AND_ASSIGN(const TrainOptions options, TrainOptionsFromFlags());
  EXPECT_EQ(options.tower.kind, v1::TOWER_KIND_DSSM);
  EXPECT_THAT(options.tower.hidden_dims, ElementsAre(300, 300));
  EXPECT_EQ(options.tower.embedding_dim, 128);
}

TEST_F(TrainFlagsTest, HiddenMayBeEmpty) {
  Set("hidden", "");
  ASSERT_OK_AND_ASSIGN(const TrainOptions options, TrainOptionsFromFlags());
  EXPECT_THAT(options.tower.hidden_dims, IsEmpty());
}

TEST_F(TrainFlagsTest, ClsmHasOneHiddenLayerUnlessTold) {
  Set("tower", "clsm");
  Set("window", "5");
  Set("biases", "false");
  ASSERT_OK_AND_ASSIGN(TrainOptions options, TrainOptionsFromFlags());
  EXPECT_THAT(options.tower.hidden_dims, ElementsAre(300));
  EXPECT_EQ(options.tower.clsm_window, 5);
  EXPECT_FALSE(options.tower.biases);
  Set("hidden", "40,30");
  ASSERT_OK_AND_ASSIGN(options, TrainOptionsFromFlags());
  EXPECT_THAT(options.tower.hidden_dims, ElementsAre(40, 30));
}

TEST_F(TrainFlagsTest, SsiBringsItsOwnDefaults) {
  Set("tower", "ssi");
  Set("ssi", "symmetric");
  Set("margin", "2");
  ASSERT_OK_AND_ASSIGN(const TrainOptions options, TrainOptionsFromFlags());
  EXPECT_EQ(options.features.kind, v1::FEATURE_KIND_WORDS);
  EXPECT_EQ(options.optimizer.kind, v1::OPTIMIZER_ADAGRAD);
  EXPECT_EQ(options.ssi.variant, v1::SSI_VARIANT_SYMMETRIC);
  EXPECT_EQ(options.loss.margin, 2);
}

// Also when the value is the default of a run without preset.
TEST_F(TrainFlagsTest, FlagsWinOverThePreset) {
  Set("preset", "dssm2013");
  Set("optimizer", "adam");
  Set("gamma", "15");
  ASSERT_OK_AND_ASSIGN(const TrainOptions options, TrainOptionsFromFlags());
  EXPECT_EQ(options.optimizer.kind, v1::OPTIMIZER_ADAM);
  EXPECT_EQ(options.loss.gamma, 15);
  EXPECT_EQ(options.loss.sampling, v1::NEGATIVE_SAMPLING_UNIFORM);
}

struct BadFlagCase {
  const char* flag;
  const char* value;
};

class BadFlagTest : public TrainFlagsTest,
                    public ::testing::WithParamInterface<BadFlagCase> {};

TEST_P(BadFlagTest, IsNamedWithItsValue) {
  Set(GetParam().flag, GetParam().value);
  EXPECT_THAT(TrainOptionsFromFlags(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr(std::string("--") + GetParam().flag + "=" +
                                 GetParam().value)));
}

INSTANTIATE_TEST_SUITE_P(
    Flags, BadFlagTest,
    ::testing::Values(
        BadFlagCase{"tower", "cnn"}, BadFlagCase{"features", "pixels"},
        BadFlagCase{"hidden", "300,x"}, BadFlagCase{"hidden", "300,,300"},
        BadFlagCase{"activation", "relu"}, BadFlagCase{"optimizer", "lbfgs"},
        BadFlagCase{"learning_rate_decay", "cosine"},
        BadFlagCase{"early_stopping", "map"},
        BadFlagCase{"negative_sampling", "hard"},
        BadFlagCase{"clicks", "twice"}, BadFlagCase{"valid_candidates", "some"},
        BadFlagCase{"ssi", "cubic"}, BadFlagCase{"preset", "bert"}),
    [](const auto& tested) {
      return std::string(tested.param.flag) + std::to_string(tested.index);
    });

}  // namespace
}  // namespace semrank
