#include "model/nn/dssm_tower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <thread>
#include <vector>

#include "model/nn/kernels.h"
#include "tests/model/nn/random_tower.h"
#include "tests/model/nn/random_values.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

std::unique_ptr<DssmTower> MakeTower(const RandomWeights& weights,
                                     Activation activation) {
  auto tower = DssmTower::Create(weights.layers, activation, nullptr);
  EXPECT_THAT(tower, IsOk());
  return std::move(tower).value();
}

std::vector<float> Embed(const DssmTower& tower, const BagBatch& batch) {
  TowerScratch scratch;
  std::vector<float> vectors(batch.num_texts() * tower.embedding_dim(), 9.0f);
  tower.Embed({.bags = batch, .sequences = {}}, scratch, vectors.data());
  return vectors;
}

// The paper's equations 3-5 as they stand, in double precision.
std::vector<double> SlowEmbed(const RandomWeights& weights,
                              Activation activation, const BagBatch& bag) {
  std::vector<double> x(weights.layers.front().in, 0.0);
  for (std::size_t i = 0; i < bag.indices.size(); ++i) {
    x[bag.indices[i]] = bag.counts[i];
  }
  return SlowFinish(weights.layers, 0, activation, x);
}

struct TowerCase {
  std::vector<int> widths;
  Activation activation;
};

class DssmTowerShapeTest : public ::testing::TestWithParam<TowerCase> {
 protected:
  const RandomWeights weights_{GetParam().widths, 1};
  const std::unique_ptr<DssmTower> tower_ =
      MakeTower(weights_, GetParam().activation);
  const int dim_ = GetParam().widths.back();
};

TEST_P(DssmTowerShapeTest, MatchesTheEquationsInDoublePrecision) {
  const BagBatch batch = RandomBags(20, GetParam().widths.front(), 2);
  const std::vector<float> vectors = Embed(*tower_, batch);
  for (int t = 0; t < batch.num_texts(); ++t) {
    const BagBatch bag = OneBag(batch, t);
    if (bag.indices.empty()) continue;
    const auto want = SlowEmbed(weights_, GetParam().activation, bag);
    for (int j = 0; j < dim_; ++j) {
      // Sums of a few hundred rounded terms, through up to three layers.
      ASSERT_NEAR(vectors[t * dim_ + j], want[j], 3e-6) << t << ", " << j;
    }
  }
}

TEST_P(DssmTowerShapeTest, TextHasTheSameBitsAloneAndInAnyBatch) {
  for (const int num_texts : {1, 2, 5, 8, 33, 200, 400}) {
    const BagBatch batch = RandomBags(num_texts, GetParam().widths.front(), 3);
    const std::vector<float> vectors = Embed(*tower_, batch);
    for (int t = 0; t < num_texts; ++t) {
      const std::vector<float> want(vectors.begin() + t * dim_,
                                    vectors.begin() + (t + 1) * dim_);
      ASSERT_EQ(Embed(*tower_, OneBag(batch, t)), want)
          << t << " of " << num_texts;
    }
  }
}

TEST_P(DssmTowerShapeTest, TextHasTheSameBitsInAnyThread) {
  const BagBatch batch = RandomBags(50, GetParam().widths.front(), 4);
  const std::vector<float> want = Embed(*tower_, batch);
  std::vector<std::vector<float>> got(4);
  std::vector<std::thread> threads;
  for (auto& vectors : got) {
    threads.emplace_back([&] { vectors = Embed(*tower_, batch); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& vectors : got) EXPECT_EQ(vectors, want);
}

TEST_P(DssmTowerShapeTest, InInt8ATextHasNearlyTheVectorAndTheSameBitsAlone) {
  const auto tower = DssmTower::Create(weights_.layers, GetParam().activation,
                                       nullptr, VectorPrecision::kInt8);
  ASSERT_THAT(tower, IsOk());
  const BagBatch batch = RandomBags(100, GetParam().widths.front(), 6);
  const std::vector<float> vectors = Embed(**tower, batch);
  const std::vector<float> want = Embed(*tower_, batch);
  for (int t = 0; t < batch.num_texts(); ++t) {
    // Each layer rounds weights and inputs by at most a 254th of the largest.
    EXPECT_GE(Dot(&vectors[t * dim_], &want[t * dim_], dim_),
              batch.empty(t) ? 0 : 0.9995f);
    ASSERT_EQ(Embed(**tower, OneBag(batch, t)),
              std::vector<float>(vectors.begin() + t * dim_,
                                 vectors.begin() + (t + 1) * dim_));
  }
  if (weights_.layers.size() == 1) {
    EXPECT_EQ(vectors, want);
  }
}

TEST_P(DssmTowerShapeTest, TextWithoutFeaturesIsExactlyZero) {
  BagBatch batch = OneBag(RandomBags(1, GetParam().widths.front(), 5), 0);
  batch.offsets.push_back(batch.offsets.back());
  const std::vector<float> vectors = Embed(*tower_, batch);
  EXPECT_THAT(std::vector<float>(vectors.begin() + dim_, vectors.end()),
              Each(0.0f));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, DssmTowerShapeTest,
    ::testing::Values(TowerCase{{500, 300, 300, 128}, Activation::kTanh},
                      TowerCase{{90, 33, 17}, Activation::kTanh},
                      TowerCase{{90, 5, 4, 3, 2}, Activation::kLinear},
                      TowerCase{{200, 128}, Activation::kLinear},
                      TowerCase{{200, 100}, Activation::kTanh}));

TEST(DssmTowerTest, ReusesScratchFromLargerAndSmallerBatches) {
  const RandomWeights weights({90, 33, 17}, 6);
  const auto tower = MakeTower(weights, Activation::kTanh);
  TowerScratch scratch;
  for (const int num_texts : {100, 3, 300, 1}) {
    const BagBatch batch = RandomBags(num_texts, 90, 7);
    std::vector<float> vectors(num_texts * 17);
    tower->Embed({.bags = batch, .sequences = {}}, scratch, vectors.data());
    EXPECT_EQ(vectors, Embed(*tower, batch));
  }
}

TEST(DssmTowerTest, OverflowInsideGivesZeroNotNan) {
  RandomWeights weights({3, 2}, 8);
  for (float& w : weights.matrices[0]) w = 3e38f;
  const auto tower = MakeTower(weights, Activation::kLinear);
  BagBatch batch;
  batch.indices = {0, 1};
  batch.counts = {2, 2};
  batch.offsets = {0, 2};
  EXPECT_THAT(Embed(*tower, batch), Each(0.0f));
}

TEST(DssmTowerTest, RefusesLayersThatDoNotChain) {
  const RandomWeights weights({9, 5, 4}, 9);
  std::vector<LayerView> layers = weights.layers;
  layers[1].in = 6;
  EXPECT_THAT(DssmTower::Create(layers, Activation::kTanh, nullptr),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("layer 1 takes 6 inputs")));
  layers[1] = {5, 0, layers[1].weight, layers[1].bias};
  EXPECT_THAT(DssmTower::Create(layers, Activation::kTanh, nullptr),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(DssmTower::Create({}, Activation::kTanh, nullptr),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace semrank
