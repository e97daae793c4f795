// A small model to publish: letters, words, bigrams, DSSM or linear, with
// random weights that are the same in every run.
#ifndef SEMRANK_TESTS_MODEL_FORMAT_TINY_MODEL_H_
#define SEMRANK_TESTS_MODEL_FORMAT_TINY_MODEL_H_

#include <cmath>
#include <list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/format/int8_rows.h"
#include "model/format/model_bundle.h"
#include "model/format/model_config.h"
#include "model/text/normalizer.h"

namespace semrank {

struct TinyModelOptions {
  v1::TowerKind tower = v1::TOWER_KIND_DSSM;
  v1::Activation activation = v1::ACTIVATION_TANH;
  std::vector<std::uint32_t> hidden_dims = {6, 5};
  std::uint32_t embedding_dim = 4;
  bool shared_towers = false;
  v1::FeatureKind features = v1::FEATURE_KIND_LETTERS;
  int hash_buckets = 0;
  int clsm_window = 0;
  double lexical_weight = -1;  // below 0 = no lexical part
  double scale = 1;            // of the weights, so that models differ
  v1::WeightEncoding weights = v1::WEIGHT_ENCODING_UNSPECIFIED;
};

class TinyModel {
 public:
  explicit TinyModel(const TinyModelOptions& options = {})
      : featurizer_(MakeFeaturizer(options)) {
    bundle_.config = MakeConfig(options);
    bundle_.featurizer = &featurizer_;
    for (const ExpectedTensor& tensor :
         ExpectedTensors(WithFloatWeights(bundle_.config))) {
      std::int64_t count = 1;
      for (const std::int64_t size : tensor.shape) count *= size;
      storage_.push_back(tensor.name == kLexicalIdfTensor
                             ? std::vector<float>(count, 2.0f)
                             : Values(count, options.scale));
      bundle_.tensors.push_back(
          {tensor.name, tensor.shape, storage_.back().data()});
    }
  }
  TinyModel(const TinyModel&) = delete;
  TinyModel& operator=(const TinyModel&) = delete;

  // Tests change these; tensors point into storage().
  ModelBundle& bundle() { return bundle_; }
  std::list<std::vector<float>>& storage() { return storage_; }

 private:
  static std::vector<std::string> Ngrams() {
    return {"#ca", "cat", "at#", "car", "ar#",
            "#do", "dog", "og#", "#ü",  "üb#"};
  }

  static Featurizer MakeFeaturizer(const TinyModelOptions& options) {
    std::optional<NgramVocabulary> ngrams;
    std::optional<WordVocabulary> words;
    if (HasLetters(options.features)) {
      ngrams = options.hash_buckets > 0
                   ? *NgramVocabulary::Hashed(3, options.hash_buckets)
                   : *NgramVocabulary::FromList(3, Ngrams());
    }
    if (HasWords(options.features)) {
      words = *WordVocabulary::FromList({"cat", "dog", "über"});
    }
    std::optional<WordVocabulary> bigrams;
    if (HasBigrams(options.features)) {
      bigrams = *WordVocabulary::FromBigramList({"cat dog", "über dog"});
    }
    return *Featurizer::Create(std::move(ngrams), std::move(words),
                               std::move(bigrams));
  }

  v1::ModelConfig MakeConfig(const TinyModelOptions& options) const {
    v1::ModelConfig config;
    if (options.lexical_weight >= 0) {
      config.mutable_lexical()->set_weight(options.lexical_weight);
      config.mutable_lexical()->set_ngram_length(3);
      config.mutable_lexical()->set_num_buckets(64);
    }
    config.set_name("tiny");
    config.set_tower(options.tower);
    config.mutable_hidden_dims()->Add(options.hidden_dims.begin(),
                                      options.hidden_dims.end());
    config.set_embedding_dim(options.embedding_dim);
    config.set_activation(options.activation);
    config.set_shared_towers(options.shared_towers);
    config.set_clsm_window(options.clsm_window);
    config.set_gamma(10);
    config.set_score_kind(v1::SCORE_KIND_COSINE);
    v1::FeatureSpec& features = *config.mutable_features();
    features.set_normalizer_version(kNormalizerVersion);
    features.set_kind(options.features);
    if (featurizer_.ngrams()) {
      features.set_ngram_length(3);
      features.set_hash_buckets(options.hash_buckets);
      features.set_num_ngrams(featurizer_.ngrams()->size());
    }
    if (featurizer_.words())
      features.set_num_words(featurizer_.words()->size());
    if (featurizer_.bigrams())
      features.set_num_bigrams(featurizer_.bigrams()->size());
    config.set_weight_encoding(options.weights);
    config.set_format_version(FormatVersionOf(config));
    return config;
  }

  // Spread over (-scale, scale), no two alike in a row.
  std::vector<float> Values(std::int64_t count, double scale) {
    std::vector<float> values(count);
    for (float& value : values) {
      value = static_cast<float>(scale * std::sin(phase_ += 1.7));
    }
    return values;
  }

  double phase_ = 0;
  Featurizer featurizer_;
  std::list<std::vector<float>> storage_;
  ModelBundle bundle_;
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_MODEL_FORMAT_TINY_MODEL_H_
