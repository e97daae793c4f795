#include "model/nn/two_tower_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/nn/dssm_tower.h"
#include "tests/model/nn/random_values.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::Each;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

// Letter trigrams of "cat" and "car": #ca cat at# car ar#.
Featurizer CatAndCar() {
  auto ngrams =
      NgramVocabulary::FromList(3, {"#ca", "cat", "at#", "car", "ar#"});
  EXPECT_THAT(ngrams, IsOk());
  auto featurizer = Featurizer::Create(std::move(ngrams).value(), std::nullopt);
  EXPECT_THAT(featurizer, IsOk());
  return std::move(featurizer).value();
}

std::shared_ptr<const Tower> LinearTower(int in, int out, unsigned seed) {
  struct Storage {
    std::vector<float> weight, bias;
  };
  auto storage = std::make_shared<Storage>();
  storage->weight = RandomValues(in * out, seed);
  storage->bias.assign(out, 0.0f);
  auto tower = DssmTower::Create(
      {{in, out, storage->weight.data(), storage->bias.data()}},
      Activation::kLinear, storage);
  EXPECT_THAT(tower, IsOk());
  return std::move(tower).value();
}

TEST(TwoTowerModelTest, EmbedsEachSideWithItsTower) {
  auto query = LinearTower(5, 4, 1);
  auto document = LinearTower(5, 4, 2);
  ASSERT_OK_AND_ASSIGN(
      auto model, TwoTowerModel::Create({"shop", 3, "abc"}, {}, CatAndCar(),
                                        query, document));
  EXPECT_EQ(model->embedding_dim(), 4);
  EXPECT_EQ(model->version().name, "shop");
  EXPECT_EQ(model->version().version, 3);
  const std::vector<std::string_view> texts = {"cat", "car cat", "dog"};
  for (const Side side : {Side::kQuery, Side::kDocument}) {
    EmbedScratch scratch;
    std::vector<float> vectors(3 * 4, 9.0f), want(3 * 4);
    model->EmbedTexts(side, texts, scratch, vectors.data());
    TowerInput input;
    for (auto text : texts) model->featurizer().AppendBag(text, input.bags);
    TowerScratch tower_scratch;
    const Tower& tower = side == Side::kQuery ? *query : *document;
    tower.Embed(input, tower_scratch, want.data());
    // The same terms, added in another order.
    EXPECT_THAT(vectors, Pointwise(FloatNear(1e-6f), want));
    EXPECT_THAT(std::vector<float>(vectors.begin() + 8, vectors.end()),
                Each(0.0f));
  }
}

TEST(TwoTowerModelTest, MayShareOneTower) {
  auto tower = LinearTower(5, 4, 1);
  ASSERT_OK_AND_ASSIGN(
      auto model, TwoTowerModel::Create({}, {}, CatAndCar(), tower, tower));
  EXPECT_EQ(&model->tower(Side::kQuery), &model->tower(Side::kDocument));
}

TEST(TwoTowerModelTest, RefusesTowersThatDoNotFit) {
  auto good = LinearTower(5, 4, 1);
  EXPECT_THAT(
      TwoTowerModel::Create({}, {}, CatAndCar(), good, LinearTower(6, 4, 2)),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("document tower takes 6 features")));
  EXPECT_THAT(
      TwoTowerModel::Create({}, {}, CatAndCar(), good, LinearTower(5, 3, 2)),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("4 dimensions and the document tower 3")));
  EXPECT_THAT(TwoTowerModel::Create({}, {}, CatAndCar(), nullptr, good),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace semrank
