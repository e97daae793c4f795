#include "tests/support/tiny_model.h"

#include <random>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/format/model_bundle.h"
#include "model/format/model_config.h"
#include "model/nn/dssm_tower.h"
#include "model/text/normalizer.h"

namespace semrank {
namespace {

constexpr int kNgramLength = 3;

// The tensors of one tower, in the order of its layers.
struct TowerWeights {
  int num_buckets, hidden_dim, embedding_dim;
  std::vector<float> hidden_weight, hidden_bias, output_weight, output_bias;

  TowerWeights(const TinyModelOptions& options, std::uint32_t seed)
      : num_buckets(options.num_buckets),
        hidden_dim(options.hidden_dim),
        embedding_dim(options.embedding_dim) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> uniform(-0.5f, 0.5f);
    const auto fill = [&](int size) {
      std::vector<float> values(size);
      for (float& value : values) value = uniform(random);
      return values;
    };
    hidden_weight = fill(num_buckets * hidden_dim);
    hidden_bias = fill(hidden_dim);
    output_weight = fill(hidden_dim * embedding_dim);
    output_bias = fill(embedding_dim);
  }
};

// The document tower's seed is another one.
constexpr std::uint32_t kDocumentSeedOffset = 1'000'000;

void AddTensors(const std::string& side, const TowerWeights& weights,
                std::vector<TensorView>& tensors) {
  const int hidden = weights.hidden_dim;
  const int dim = weights.embedding_dim;
  tensors.push_back({side + ".0.weight",
                     {weights.num_buckets, hidden},
                     weights.hidden_weight.data()});
  tensors.push_back({side + ".0.bias", {hidden}, weights.hidden_bias.data()});
  tensors.push_back(
      {side + ".1.weight", {hidden, dim}, weights.output_weight.data()});
  tensors.push_back({side + ".1.bias", {dim}, weights.output_bias.data()});
}

std::shared_ptr<const Tower> MakeTower(const TinyModelOptions& options,
                                       std::uint32_t seed) {
  auto weights = std::make_shared<TowerWeights>(options, seed);
  std::vector<LayerView> layers = {
      {options.num_buckets, options.hidden_dim, weights->hidden_weight.data(),
       weights->hidden_bias.data()},
      {options.hidden_dim, options.embedding_dim, weights->output_weight.data(),
       weights->output_bias.data()}};
  return DssmTower::Create(std::move(layers), Activation::kTanh, weights)
      .value();
}

Featurizer MakeFeaturizer(const TinyModelOptions& options) {
  return Featurizer::Create(
             NgramVocabulary::Hashed(kNgramLength, options.num_buckets).value(),
             std::nullopt)
      .value();
}

constexpr int kLexicalBuckets = 4096;

// Values that differ from bucket to bucket.
std::shared_ptr<const std::vector<float>> LexicalIdfs() {
  auto idf = std::make_shared<std::vector<float>>(kLexicalBuckets);
  for (int i = 0; i < kLexicalBuckets; ++i) {
    (*idf)[i] = 1.0f + static_cast<float>(i % 11);
  }
  return idf;
}

std::shared_ptr<const LexicalPart> MakeLexicalPart(
    const TinyModelOptions& options) {
  if (options.lexical_weight < 0) return nullptr;
  const auto idf = LexicalIdfs();
  return LexicalPart::Create({.ngram_length = kNgramLength,
                              .num_buckets = kLexicalBuckets,
                              .idf = idf->data(),
                              .weight = options.lexical_weight},
                             idf)
      .value();
}

v1::ModelConfig MakeConfig(const TinyModelOptions& options) {
  v1::ModelConfig config;
  if (options.lexical_weight >= 0) {
    v1::LexicalSpec& lexical = *config.mutable_lexical();
    lexical.set_weight(options.lexical_weight);
    lexical.set_ngram_length(kNgramLength);
    lexical.set_num_buckets(kLexicalBuckets);
  }
  config.set_format_version(FormatVersionOf(config));
  config.set_name(options.name);
  config.set_tower(v1::TOWER_KIND_DSSM);
  config.add_hidden_dims(options.hidden_dim);
  config.set_embedding_dim(options.embedding_dim);
  config.set_activation(v1::ACTIVATION_TANH);
  config.set_gamma(10);
  config.set_score_kind(v1::SCORE_KIND_COSINE);
  v1::FeatureSpec& features = *config.mutable_features();
  features.set_normalizer_version(kNormalizerVersion);
  features.set_kind(v1::FEATURE_KIND_LETTERS);
  features.set_ngram_length(kNgramLength);
  features.set_hash_buckets(options.num_buckets);
  features.set_num_ngrams(options.num_buckets);
  features.set_weighting(v1::FEATURE_WEIGHTING_COUNT);
  return config;
}

}  // namespace

std::shared_ptr<const TwoTowerModel> MakeTinyModel(
    const TinyModelOptions& options) {
  return TwoTowerModel::Create(
             {.name = options.name,
              .version = options.version,
              .identity = absl::StrFormat("identity-of-seed-%d", options.seed),
              .vector_precision = options.vector_precision},
             MakeConfig(options), MakeFeaturizer(options),
             MakeTower(options, options.seed),
             MakeTower(options, options.seed + kDocumentSeedOffset),
             {.lexical = MakeLexicalPart(options)})
      .value();
}

std::int64_t PublishTinyModel(const std::string& model_dir,
                              const TinyModelOptions& options) {
  const TowerWeights query(options, options.seed);
  const TowerWeights document(options, options.seed + kDocumentSeedOffset);
  const Featurizer featurizer = MakeFeaturizer(options);
  ModelBundle bundle;
  bundle.config = MakeConfig(options);
  bundle.featurizer = &featurizer;
  AddTensors("query", query, bundle.tensors);
  AddTensors("document", document, bundle.tensors);
  const auto idf = LexicalIdfs();
  if (options.lexical_weight >= 0) {
    bundle.tensors.push_back(
        {kLexicalIdfTensor, {kLexicalBuckets}, idf->data()});
  }
  return PublishModel(model_dir, bundle).value();
}

}  // namespace semrank
