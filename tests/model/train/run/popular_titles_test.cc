// Queries that share a few titles, several clicked for each: most pairs of a
// mini-batch bring a title that was clicked for other queries too.
#include <gtest/gtest.h>

#include <string>

#include "tests/model/train/run/trainer_fixture.h"
#include "tests/model/train/train_model.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

struct PopularTitlesCase {
  std::string name;
  LossOptions loss;
  v1::TowerKind tower = v1::TOWER_KIND_LINEAR;
};

class PopularTitlesTest
    : public TrainerTest,
      public ::testing::WithParamInterface<PopularTitlesCase> {
 protected:
  static constexpr int kTitles = 6;

  // Query i has the titles i, i + 1 and i + 2, modulo their number.
  PopularTitlesTest() {
    std::string pairs, last_pairs;
    for (int i = 0; i < 36; ++i) {
      for (int k = 0; k < 3; ++k) {
        const std::string pair =
            Word(i) + "\t" + Word(100 + (i + k) % kTitles) + "\n";
        pairs += pair;
        if (k == 2) last_pairs += pair;
      }
    }
    options_.data.train_files = {dir_.Write("popular.tsv", pairs)};
    options_.data.valid_pair_files = {dir_.Write("last.tsv", last_pairs)};
    options_.data.valid_queries.clear();
    options_.data.valid_docs.clear();
    options_.data.valid_qrels.clear();
    options_.optimizer.learning_rate = 0.03;
    options_.epochs = 40;
  }
};

// Were a clicked title a negative as well, half of the titles would compete for
// the first place, and no loss could be near 0.
TEST_P(PopularTitlesTest, AllTitlesOfAQueryRiseTogether) {
  options_.tower.kind = GetParam().tower;
  options_.tower.hidden_dims.clear();
  options_.loss = GetParam().loss;
  if (options_.tower.kind == v1::TOWER_KIND_SSI) {
    options_.features.kind = v1::FEATURE_KIND_WORDS;
    options_.optimizer.kind = v1::OPTIMIZER_ADAGRAD;
  }
  ASSERT_THAT(TrainModel(options_), IsOk());
  EXPECT_LT(Log().back()["train_loss"], 0.02);
  EXPECT_LT(Log().back()["valid_loss"], 0.02);
}

INSTANTIATE_TEST_SUITE_P(
    Negatives, PopularTitlesTest,
    ::testing::Values(
        PopularTitlesCase{"AllOfTheBatch",
                          {.sampling = v1::NEGATIVE_SAMPLING_IN_BATCH}},
        PopularTitlesCase{
            "Corrected",
            {.sampling = v1::NEGATIVE_SAMPLING_IN_BATCH, .logq = kAutoLogQ}},
        PopularTitlesCase{
            "Rotations",
            {.sampling = v1::NEGATIVE_SAMPLING_IN_BATCH, .negatives = 9}},
        PopularTitlesCase{
            "Uniform",
            {.sampling = v1::NEGATIVE_SAMPLING_UNIFORM, .negatives = 4}},
        PopularTitlesCase{"Ssi",
                          {.sampling = v1::NEGATIVE_SAMPLING_IN_BATCH},
                          v1::TOWER_KIND_SSI},
        PopularTitlesCase{
            "SsiRotations",
            {.sampling = v1::NEGATIVE_SAMPLING_IN_BATCH, .negatives = 9},
            v1::TOWER_KIND_SSI}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace semrank
