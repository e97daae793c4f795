#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "model/train/options/resolve_options.h"
#include "model/train/run/checkpoint.h"
#include "model/train/validation/trained_model.h"
#include "tests/model/train/recipe_options.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::Not;

// Each changes one setting.
using Change = void (*)(TrainOptions&);

class RunIdentityTest : public ::testing::Test {
 protected:
  std::string Describe(v1::TowerKind tower, Change change) const {
    TrainOptions options = DefaultOptions(tower);
    options.data.train_files = {train_file_};
    options.data.model_dir = "unused";
    change(options);
    EXPECT_THAT(ResolveOptions(options), IsOk());
    auto words = WordVocabulary::FromList({"a", "b", "c"});
    words->HashUnknownWords(options.ssi.unknown_word_buckets);
    const auto featurizer = Featurizer::Create(std::nullopt, *std::move(words));
    const auto run = DescribeRun(options, DescribeModel(options, *featurizer));
    EXPECT_THAT(run, IsOk());
    return run.value_or("");
  }

  const TempDir dir_;
  const std::string train_file_ = dir_.Write("pairs.tsv", "a b\tc\n");
};

TEST_F(RunIdentityTest, WhatDecidesTheWeightsIsPartOfIt) {
  constexpr auto kSsi = v1::TOWER_KIND_SSI;
  const std::string run = Describe(kSsi, [](TrainOptions&) {});
  int number = 0;
  for (const Change change : std::initializer_list<Change>{
           [](TrainOptions& o) { o.seed = 2; },
           [](TrainOptions& o) { o.epochs = 7; },
           [](TrainOptions& o) { o.batch_size = 7; },
           [](TrainOptions& o) { o.data.memory_limit = 1 << 20; },
           [](TrainOptions& o) { o.data.valid_fraction = 0.5; },
           [](TrainOptions& o) { o.data.max_text_bytes = 7; },
           [](TrainOptions& o) { o.tower.embedding_dim = 7; },
           [](TrainOptions& o) { o.ssi.variant = v1::SSI_VARIANT_SYMMETRIC; },
           [](TrainOptions& o) { o.ssi.dense_words = 1; },
           [](TrainOptions& o) { o.ssi.init_scale = 1; },
           [](TrainOptions& o) { o.loss.margin = 1; },
           [](TrainOptions& o) { o.loss.negatives = 7; },
           [](TrainOptions& o) { o.loss.clicks = v1::CLICK_USE_REPEAT; },
           [](TrainOptions& o) { o.optimizer.kind = v1::OPTIMIZER_SGD; },
           [](TrainOptions& o) { o.optimizer.learning_rate = 7; },
           [](TrainOptions& o) { o.optimizer.warmup_batches = 7; }}) {
    EXPECT_NE(Describe(kSsi, change), run) << "change " << number;
    ++number;
  }
}

// The newest lists of events are not learned from, whether they judge or not.
TEST_F(RunIdentityTest, DaysOfEventsThatAreHeldOutArePartOfIt) {
  const auto with = [this](int days, PublishMode publish) {
    TrainOptions options = DefaultOptions(v1::TOWER_KIND_DSSM);
    options.publish = publish;
    options.data.judge_days = days;
    options.data.event_paths = {train_file_};
    const auto run = DescribeRun(options, v1::ModelConfig());
    EXPECT_THAT(run, IsOk());
    return run.value_or("");
  };
  EXPECT_NE(with(1, PublishMode::kAlways), with(2, PublishMode::kAlways));
  EXPECT_EQ(with(1, PublishMode::kAlways), with(1, PublishMode::kIfBetter));
}

// The system refuses to look for a name of 300 bytes.
TEST_F(RunIdentityTest, EventsThatCannotBeReadAreAnError) {
  TrainOptions options = DefaultOptions(v1::TOWER_KIND_DSSM);
  options.data.event_paths = {dir_.File(std::string(300, 'a'))};
  EXPECT_THAT(DescribeRun(options, v1::ModelConfig()), Not(IsOk()));
}

TEST_F(RunIdentityTest, WhatOnlyTakesTimeIsNot) {
  constexpr auto kDssm = v1::TOWER_KIND_DSSM;
  const std::string run = Describe(kDssm, [](TrainOptions&) {});
  EXPECT_EQ(Describe(kDssm, [](TrainOptions& o) { o.threads = 7; }), run);
  EXPECT_EQ(Describe(kDssm, [](TrainOptions& o) { o.patience = 7; }), run);
  EXPECT_EQ(Describe(kDssm, [](TrainOptions& o) { o.ssi.init_scale = 7; }),
            run);
}

}  // namespace
}  // namespace semrank
