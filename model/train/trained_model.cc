#include "model/train/trained_model.h"

#include <filesystem>
#include <string>
#include <utility>

#include "model/base/status_macros.h"
#include "model/base/version.h"
#include "model/format/model_bundle.h"
#include "model/train/training_features.h"

namespace semrank {
namespace {

// "shop" for "models/shop" and "models/shop/".
std::string NameOfFolder(const std::string& model_dir) {
  std::filesystem::path path = std::filesystem::path(model_dir);
  if (!path.has_filename()) path = path.parent_path();
  return path.filename().string();
}

absl::StatusOr<std::shared_ptr<const Tower>> ViewAsTower(
    const TowerWeights& weights, v1::Activation activation) {
  return DssmTower::Create(weights.Views(),
                           activation == v1::ACTIVATION_TANH
                               ? Activation::kTanh
                               : Activation::kLinear,
                           /*storage=*/nullptr);
}

}  // namespace

v1::ModelConfig DescribeModel(const TrainOptions& options,
                              const Featurizer& featurizer) {
  v1::ModelConfig config;
  config.set_format_version(kFormatVersion);
  config.set_name(NameOfFolder(options.data.model_dir));
  config.set_tower(options.tower.kind);
  config.mutable_hidden_dims()->Add(options.tower.hidden_dims.begin(),
                                    options.tower.hidden_dims.end());
  config.set_embedding_dim(options.tower.embedding_dim);
  config.set_activation(options.tower.activation);
  config.set_shared_towers(options.tower.shared);
  *config.mutable_features() = DescribeFeatures(featurizer);
  config.set_gamma(options.loss.gamma);
  config.set_score_kind(v1::SCORE_KIND_COSINE);

  v1::TrainingFacts& facts = *config.mutable_training();
  facts.set_seed(options.seed);
  facts.set_loss(v1::LOSS_KIND_SOFTMAX);
  facts.set_negatives(options.loss.negatives);
  facts.set_negative_sampling(options.loss.sampling);
  facts.set_batch_size(options.batch_size);
  facts.set_optimizer(options.optimizer.kind);
  facts.set_learning_rate(options.optimizer.learning_rate);
  facts.set_click_use(v1::CLICK_USE_IGNORE);
  facts.set_trainer_version(std::string(Version()));
  return config;
}

absl::StatusOr<std::shared_ptr<const TwoTowerModel>> ViewAsModel(
    const TwoTowerTrainer& trainer, const v1::ModelConfig& config,
    const Featurizer& featurizer) {
  SEMRANK_ASSIGN_OR_RETURN(
      const std::shared_ptr<const Tower> query,
      ViewAsTower(trainer.query_weights(), config.activation()));
  std::shared_ptr<const Tower> document = query;
  if (!trainer.shared()) {
    SEMRANK_ASSIGN_OR_RETURN(
        document, ViewAsTower(trainer.document_weights(), config.activation()));
  }
  return TwoTowerModel::Create(ModelVersion(), config, featurizer, query,
                               std::move(document));
}

}  // namespace semrank
