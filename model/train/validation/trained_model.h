// Weights that are being learned, seen as the model that they would make.
#ifndef SEMRANK_MODEL_TRAIN_VALIDATION_TRAINED_MODEL_H_
#define SEMRANK_MODEL_TRAIN_VALIDATION_TRAINED_MODEL_H_

#include <memory>

#include "absl/status/statusor.h"
#include "model/nn/two_tower_model.h"
#include "model/text/featurizer.h"
#include "model/train/options/train_options.h"
#include "model/train/towers/model_trainer.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

// config.json but for what is known only at the end (TrainingFacts: epochs,
// validation, time). `options` are resolved.
v1::ModelConfig DescribeModel(const TrainOptions& options,
                              const Featurizer& featurizer);

// A model over the trainer's weights, for validation: it computes what a
// server with these weights would, and is good until the next Step.
absl::StatusOr<std::shared_ptr<const TwoTowerModel>> ViewAsModel(
    const ModelTrainer& trainer, const v1::ModelConfig& config,
    const Featurizer& featurizer);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_VALIDATION_TRAINED_MODEL_H_
