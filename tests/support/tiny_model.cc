#include "tests/support/tiny_model.h"

#include <random>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/nn/dssm_tower.h"
#include "model/text/normalizer.h"

namespace semrank {
namespace {

constexpr int kNumBuckets = 512;
constexpr int kNgramLength = 3;
constexpr int kHiddenDim = 24;

// The tensors of one tower, in the order of its layers.
struct TowerWeights {
  int embedding_dim;
  std::vector<float> hidden_weight, hidden_bias, output_weight, output_bias;

  TowerWeights(int dim, std::uint32_t seed) : embedding_dim(dim) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> uniform(-0.5f, 0.5f);
    const auto fill = [&](int size) {
      std::vector<float> values(size);
      for (float& value : values) value = uniform(random);
      return values;
    };
    hidden_weight = fill(kNumBuckets * kHiddenDim);
    hidden_bias = fill(kHiddenDim);
    output_weight = fill(kHiddenDim * dim);
    output_bias = fill(dim);
  }
};

std::shared_ptr<const Tower> MakeTower(int dim, std::uint32_t seed) {
  auto weights = std::make_shared<TowerWeights>(dim, seed);
  std::vector<LayerView> layers = {
      {kNumBuckets, kHiddenDim, weights->hidden_weight.data(),
       weights->hidden_bias.data()},
      {kHiddenDim, dim, weights->output_weight.data(),
       weights->output_bias.data()}};
  return DssmTower::Create(std::move(layers), Activation::kTanh, weights)
      .value();
}

Featurizer MakeFeaturizer() {
  return Featurizer::Create(
             NgramVocabulary::Hashed(kNgramLength, kNumBuckets).value(),
             std::nullopt)
      .value();
}

v1::ModelConfig MakeConfig(const TinyModelOptions& options) {
  v1::ModelConfig config;
  config.set_format_version(1);
  config.set_name(options.name);
  config.set_tower(v1::TOWER_KIND_DSSM);
  config.add_hidden_dims(kHiddenDim);
  config.set_embedding_dim(options.embedding_dim);
  config.set_activation(v1::ACTIVATION_TANH);
  config.set_gamma(10);
  config.set_score_kind(v1::SCORE_KIND_COSINE);
  v1::FeatureSpec& features = *config.mutable_features();
  features.set_normalizer_version(kNormalizerVersion);
  features.set_kind(v1::FEATURE_KIND_LETTERS);
  features.set_ngram_length(kNgramLength);
  features.set_hash_buckets(kNumBuckets);
  features.set_num_ngrams(kNumBuckets);
  features.set_weighting(v1::FEATURE_WEIGHTING_COUNT);
  return config;
}

}  // namespace

std::shared_ptr<const TwoTowerModel> MakeTinyModel(
    const TinyModelOptions& options) {
  return TwoTowerModel::Create(
             {options.name, options.version,
              absl::StrFormat("identity-of-seed-%d", options.seed)},
             MakeConfig(options), MakeFeaturizer(),
             MakeTower(options.embedding_dim, options.seed),
             MakeTower(options.embedding_dim, options.seed + 1'000'000))
      .value();
}

}  // namespace semrank
