#include "model/train/towers/tower_trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "model/base/thread_pool.h"
#include "model/nn/clsm_tower.h"
#include "model/nn/dssm_tower.h"
#include "model/train/options/model_size.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr int kDim = 20;

class TowerTrainerTest : public ::testing::Test {
 protected:
  TowerTrainerTest() {
    auto words = WordVocabulary::FromList({"a", "b", "<s>"});
    featurizer_ = *Featurizer::Create(std::nullopt, *std::move(words));
    for (const std::string& text : texts_) interner_.Intern(text);
    bags_.emplace(interner_, *featurizer_);
    weights_ =
        InitialWeights({3, 40, kDim}, Random(1, RandomPurpose::kQueryWeights));
    for (LayerWeights& layer : weights_.layers) {
      for (float& bias : layer.bias) bias = 0.25f;
    }
  }

  void Embed(TowerTrainer& trainer, std::span<const TextId> ids) {
    TaskList tasks;
    ASSERT_THAT(trainer.SetTexts(*bags_, ids), IsOk());
    trainer.AddPrepareTasks(tasks);
    pool_.Run(tasks);
    trainer.AddForwardTasks({0, trainer.num_texts()}, /*learn=*/false, tasks);
    pool_.Run(tasks);
  }

  // The bits that `tower` computes.
  void ExpectVectorsOf(const Tower& tower, TowerTrainer& trainer,
                       std::span<const TextId> ids) {
    Embed(trainer, ids);
    TowerInput input;
    for (const TextId id : ids) {
      tower.AppendText(*featurizer_, texts_[id], input);
    }
    std::vector<float> want(ids.size() * kDim);
    TowerScratch scratch;
    tower.Embed(input, scratch, want.data());
    EXPECT_EQ(
        std::vector<float>(trainer.vectors(), trainer.vectors() + want.size()),
        want);
  }

  // The layers as the towers of a model read them.
  std::vector<LayerView> Views() const {
    std::vector<LayerView> views;
    for (const LayerWeights& layer : weights_.layers) {
      views.push_back(
          {layer.in, layer.out, layer.weight.data(), layer.bias.data()});
    }
    return views;
  }

  std::vector<std::string> texts_ = {"a b b", "unknown", "b"};
  TextInterner interner_;
  std::optional<Featurizer> featurizer_;
  std::optional<TextBags> bags_;
  TowerWeights weights_;
  ThreadPool pool_{1};
};

TEST_F(TowerTrainerTest, ComputesTheBitsThatWillBeServed) {
  TowerTrainer trainer(weights_, TowerTrainerOptions());
  const std::vector<TextId> ids = {2, 0, 1, 0};
  ASSERT_OK_AND_ASSIGN(const auto tower,
                       DssmTower::Create(Views(), Activation::kTanh, nullptr));
  ExpectVectorsOf(*tower, trainer, ids);
}

TEST_F(TowerTrainerTest, ClsmComputesTheBitsThatWillBeServed) {
  bags_.emplace(interner_, *featurizer_, TextForm::kWordSequences);
  weights_ = InitialWeights({3 * 5, 40, kDim},
                            Random(1, RandomPurpose::kQueryWeights));
  for (float& bias : weights_.layers[0].bias) bias = 0.25f;
  TowerTrainerOptions options;
  options.clsm_window = 5;
  TowerTrainer trainer(weights_, options);
  const std::vector<TextId> ids = {2, 0, 1, 0};
  ASSERT_OK_AND_ASSIGN(const auto tower,
                       ClsmTower::Create(Views(), 5, nullptr));
  ExpectVectorsOf(*tower, trainer, ids);
  EXPECT_THAT(std::span(trainer.vectors() + 2 * kDim, kDim), Each(0))
      << "paddings are not features of a text";
}

TEST_F(TowerTrainerTest, TextWithoutFeaturesHasTheZeroVector) {
  TowerTrainer trainer(weights_, TowerTrainerOptions());
  const std::vector<TextId> ids = {1};
  Embed(trainer, ids);
  EXPECT_THAT(std::span(trainer.vectors(), kDim), Each(0));
}

TEST_F(TowerTrainerTest, OverflowIsNotHidden) {
  weights_.layers[1].bias[0] = INFINITY;
  TowerTrainerOptions options;
  options.output_activation = Activation::kLinear;
  TowerTrainer trainer(weights_, options);
  const std::vector<TextId> ids = {0};
  Embed(trainer, ids);
  EXPECT_TRUE(std::isnan(trainer.vectors()[0]));
}

TEST(InitialWeightsTest, FollowThePaper) {
  const TowerWeights tower =
      InitialWeights({1000, 300, 128}, Random(1, RandomPurpose::kQueryWeights));
  ASSERT_EQ(tower.layers.size(), 2u);
  const double ranges[] = {std::sqrt(6.0 / 1300), std::sqrt(6.0 / 428)};
  for (int l = 0; l < 2; ++l) {
    const LayerWeights& layer = tower.layers[l];
    EXPECT_EQ(layer.weight.size(),
              static_cast<std::size_t>(layer.in) * layer.out);
    EXPECT_THAT(layer.bias, Each(0));
    const auto [low, high] =
        std::minmax_element(layer.weight.begin(), layer.weight.end());
    // The extremes of tens of thousands of uniform numbers are near the ends.
    EXPECT_NEAR(*low, -ranges[l], 0.001 * ranges[l]);
    EXPECT_NEAR(*high, ranges[l], 0.001 * ranges[l]);
  }
}

TEST(TowerWeightsTest, TensorsAreNamedAsInTheModelFile) {
  const TowerWeights tower =
      InitialWeights({7, 5, 3}, Random(1, RandomPurpose::kQueryWeights));
  std::vector<TensorView> tensors;
  tower.AppendTensors("document", tensors);
  std::vector<std::string> names;
  for (const TensorView& tensor : tensors) names.push_back(tensor.name);
  EXPECT_THAT(names, ElementsAre("document.0.weight", "document.0.bias",
                                 "document.1.weight", "document.1.bias"));
  EXPECT_THAT(tensors[2].shape, ElementsAre(5, 3));
  EXPECT_EQ(tensors[2].data, tower.layers[1].weight.data());
}

TEST(NumParametersTest, CountsThePapersModel) {
  EXPECT_EQ(NumParameters({30621, 300, 300, 128}),
            30621 * 300 + 300 + 300 * 300 + 300 + 300 * 128 + 128);
}

}  // namespace
}  // namespace semrank
