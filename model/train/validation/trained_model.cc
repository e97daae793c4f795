#include "model/train/validation/trained_model.h"

#include <string>
#include <utility>

#include "model/base/version.h"
#include "model/format/model_config.h"
#include "model/format/model_tensors.h"
#include "model/format/version_directory.h"
#include "model/nn/lexical_part.h"
#include "model/train/data/training_features.h"
#include "model/train/options/ssi_options.h"

namespace semrank {
namespace {

// Sets what differs from models of towers.
void DescribeSsiModel(const TrainOptions& options, const Featurizer& featurizer,
                      v1::ModelConfig& config) {
  *config.mutable_ssi() = DescribeSsi(options.ssi, featurizer.num_features());
  config.mutable_features()->set_weighting(v1::FEATURE_WEIGHTING_TF_IDF);
  // A margin loss has no softmax, so its model has no gamma.
  config.clear_gamma();
  config.set_score_kind(v1::SCORE_KIND_SSI_DOT);
  config.mutable_training()->set_loss(v1::LOSS_KIND_MARGIN);
  config.mutable_training()->set_margin(options.loss.margin);
}

}  // namespace

v1::ModelConfig DescribeModel(const TrainOptions& options,
                              const Featurizer& featurizer) {
  v1::ModelConfig config;
  config.set_name(ModelNameOf(options.data.model_dir));
  config.set_tower(options.tower.kind);
  config.mutable_hidden_dims()->Add(options.tower.hidden_dims.begin(),
                                    options.tower.hidden_dims.end());
  config.set_embedding_dim(options.tower.embedding_dim);
  config.set_activation(options.tower.activation);
  config.set_shared_towers(options.tower.shared);
  config.set_clsm_window(options.tower.clsm_window);
  *config.mutable_features() = DescribeFeatures(featurizer);
  config.set_gamma(options.loss.gamma);
  config.set_score_kind(v1::SCORE_KIND_COSINE);

  // What only people and later runs read. AddFacts adds what is known at the
  // end of the run.
  v1::TrainingFacts& facts = *config.mutable_training();
  facts.set_seed(options.seed);
  facts.set_loss(v1::LOSS_KIND_SOFTMAX);
  facts.set_negatives(options.loss.negatives);
  facts.set_hard_negatives(options.loss.hard_negatives);
  facts.set_negative_sampling(options.loss.sampling);
  facts.set_batch_size(options.batch_size);
  facts.set_optimizer(options.optimizer.kind);
  facts.set_learning_rate(options.optimizer.learning_rate);
  facts.set_without_biases(!options.tower.biases);
  facts.set_dropout(options.tower.dropout);
  facts.set_gradient_clip_norm(options.optimizer.gradient_clip_norm);
  facts.set_warmup_batches(options.optimizer.warmup_batches);
  facts.set_learning_rate_decay(options.optimizer.decay);
  facts.set_click_use(options.loss.clicks);
  facts.set_logq(options.loss.logq);
  facts.set_query_typos(options.loss.query_typos);
  facts.set_init_weights_sha256(options.initial_model.weights_sha256);
  facts.set_general_start(options.general_start);
  config.set_weight_encoding(options.weights);
  facts.set_trainer_version(std::string(Version()));
  if (options.tower.kind == v1::TOWER_KIND_SSI) {
    DescribeSsiModel(options, featurizer, config);
  }
  // The lowest version that has all of these fields, so it comes last.
  config.set_format_version(FormatVersionOf(config));
  return config;
}

v1::ModelConfig WithLexicalWeight(v1::ModelConfig config, double weight) {
  // A model whose lexical part weighs nothing is published without one.
  config.clear_lexical();
  if (weight > 0) {
    const LexicalOptions options;
    config.mutable_lexical()->set_weight(weight);
    config.mutable_lexical()->set_ngram_length(options.ngram_length);
    config.mutable_lexical()->set_num_buckets(options.num_buckets);
  }
  // A lexical part needs a newer reader than the same model without one.
  config.set_format_version(FormatVersionOf(config));
  return config;
}

std::vector<TensorView> AllTensors(std::vector<TensorView> weights,
                                   const v1::ModelConfig& config,
                                   const TrainingData& data) {
  // idf is not learned, so the trainer does not have it among its weights.
  if (config.has_lexical()) {
    weights.push_back({kLexicalIdfTensor,
                       {std::ssize(data.lexical_idf)},
                       data.lexical_idf.data()});
  }
  return weights;
}

absl::StatusOr<std::shared_ptr<const TwoTowerModel>> ViewAsModel(
    std::vector<TensorView> weights, const v1::ModelConfig& config,
    const TrainingData& data) {
  TensorMap tensors;
  for (TensorView& tensor : AllTensors(std::move(weights), config, data)) {
    tensors.emplace(tensor.name, std::move(tensor));
  }
  // The model has no storage: it reads the trainer's weights where they are.
  return MakeModel(ModelVersion(), config, data.featurizer, tensors,
                   /*storage=*/nullptr);
}

}  // namespace semrank
