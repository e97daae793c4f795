// The tensors of a model: checked against its configuration, and made into
// towers (FORMAT.md, "weights.safetensors").
#ifndef SEMRANK_MODEL_FORMAT_MODEL_TENSORS_H_
#define SEMRANK_MODEL_FORMAT_MODEL_TENSORS_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/format/safetensors.h"
#include "model/nn/two_tower_model.h"
#include "model/text/featurizer.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

using TensorMap = std::map<std::string, TensorView>;

// InvalidArgument unless exactly the expected tensors are there, in their
// shapes, and all their values are finite (SSI: within FORMAT.md's ranges).
// `config` has passed CheckModelConfig.
absl::Status CheckTensors(const v1::ModelConfig& config,
                          const TensorMap& tensors);

// Makes a model of tensors that CheckTensors has accepted. They are used in
// place; `storage`, which may be null, keeps them alive.
absl::StatusOr<std::shared_ptr<const TwoTowerModel>> MakeModel(
    ModelVersion version, v1::ModelConfig config, Featurizer featurizer,
    const TensorMap& tensors, std::shared_ptr<const void> storage);

}  // namespace semrank

#endif  // SEMRANK_MODEL_FORMAT_MODEL_TENSORS_H_
