// The model that weights make while they are learned.
#ifndef SEMRANK_MODEL_TRAIN_VALIDATION_TRAINED_MODEL_H_
#define SEMRANK_MODEL_TRAIN_VALIDATION_TRAINED_MODEL_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "model/format/safetensors.h"
#include "model/nn/two_tower_model.h"
#include "model/text/featurizer.h"
#include "model/train/data/training_data.h"
#include "model/train/options/train_options.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

// config.json without what is known only at the end (TrainingFacts: epochs,
// validation, options, time). `options` are resolved.
v1::ModelConfig DescribeModel(const TrainOptions& options,
                              const Featurizer& featurizer);

// The same model with a lexical part of that weight; without one for 0.
v1::ModelConfig WithLexicalWeight(v1::ModelConfig config, double weight);

// `weights` with the other tensors that `config` asks for: the lexical idf of
// `data`, which outlives them.
std::vector<TensorView> AllTensors(std::vector<TensorView> weights,
                                   const v1::ModelConfig& config,
                                   const TrainingData& data);

// A model over the weights, for validation: it computes what a server with them
// would. It is valid while they do not change and `data` lives.
absl::StatusOr<std::shared_ptr<const TwoTowerModel>> ViewAsModel(
    std::vector<TensorView> weights, const v1::ModelConfig& config,
    const TrainingData& data);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_VALIDATION_TRAINED_MODEL_H_
