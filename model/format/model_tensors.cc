#include "model/format/model_tensors.h"

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/status_macros.h"
#include "model/format/model_config.h"
#include "model/format/ssi_tensors.h"
#include "model/nn/clsm_tower.h"
#include "model/nn/dssm_tower.h"

namespace semrank {
namespace {

std::string FormatShape(const std::vector<std::int64_t>& shape) {
  return absl::StrFormat("[%s]", absl::StrJoin(shape, ", "));
}

bool AllFinite(const TensorView& tensor) {
  std::int64_t count = 1;
  for (const std::int64_t size : tensor.shape) count *= size;
  // Zero times a value is zero unless that is infinite or NaN, which stays in
  // the sum. One pass without a branch.
  float sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += tensor.data[i] * 0.0f;
  return sum == 0;
}

absl::Status CheckTensor(const ExpectedTensor& expected,
                         const TensorMap& tensors) {
  const auto found = tensors.find(expected.name);
  if (found == tensors.end()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("tensor \"%s\" is missing", expected.name));
  }
  const TensorView& tensor = found->second;
  if (tensor.shape != expected.shape) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "tensor \"%s\" has shape %s; the configuration asks for %s",
        expected.name, FormatShape(tensor.shape), FormatShape(expected.shape)));
  }
  if (tensor.data == nullptr || !AllFinite(tensor)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "tensor \"%s\" holds NaN or infinity, or nothing", expected.name));
  }
  return absl::OkStatus();
}

// The tower whose tensors begin with `prefix`, "query" or "document".
absl::StatusOr<std::shared_ptr<const Tower>> MakeTower(
    const v1::ModelConfig& config, const std::string& prefix,
    const TensorMap& tensors, std::shared_ptr<const void> storage) {
  const std::vector<std::int64_t> widths = LayerWidths(config);
  std::vector<LayerView> layers;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    const std::string layer = absl::StrFormat("%s.%d", prefix, i);
    layers.push_back({.in = static_cast<int>(widths[i]),
                      .out = static_cast<int>(widths[i + 1]),
                      .weight = tensors.at(layer + ".weight").data,
                      .bias = tensors.at(layer + ".bias").data});
  }
  if (config.tower() == v1::TOWER_KIND_CLSM) {
    SEMRANK_ASSIGN_OR_RETURN(
        std::unique_ptr<ClsmTower> tower,
        ClsmTower::Create(layers, static_cast<int>(config.clsm_window()),
                          std::move(storage)));
    return std::shared_ptr<const Tower>(std::move(tower));
  }
  const Activation activation = config.activation() == v1::ACTIVATION_TANH
                                    ? Activation::kTanh
                                    : Activation::kLinear;
  SEMRANK_ASSIGN_OR_RETURN(
      std::unique_ptr<DssmTower> tower,
      DssmTower::Create(layers, activation, std::move(storage)));
  return std::shared_ptr<const Tower>(std::move(tower));
}

}  // namespace

absl::Status CheckTensors(const v1::ModelConfig& config,
                          const TensorMap& tensors) {
  const std::vector<ExpectedTensor> expected = ExpectedTensors(config);
  for (const ExpectedTensor& tensor : expected) {
    SEMRANK_RETURN_IF_ERROR(CheckTensor(tensor, tensors));
  }
  if (tensors.size() == expected.size()) {
    return config.tower() == v1::TOWER_KIND_SSI
               ? CheckSsiValues(config, tensors)
               : absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrFormat("%d tensors; the configuration asks for %d",
                      tensors.size(), expected.size()));
}

absl::StatusOr<std::shared_ptr<const TwoTowerModel>> MakeModel(
    ModelVersion version, v1::ModelConfig config, Featurizer featurizer,
    const TensorMap& tensors, std::shared_ptr<const void> storage) {
  if (config.tower() == v1::TOWER_KIND_SSI) {
    return MakeSsiModel(std::move(version), std::move(config),
                        std::move(featurizer), tensors, std::move(storage));
  }
  SEMRANK_ASSIGN_OR_RETURN(const std::shared_ptr<const Tower> query,
                           MakeTower(config, "query", tensors, storage));
  std::shared_ptr<const Tower> document = query;
  if (!config.shared_towers()) {
    SEMRANK_ASSIGN_OR_RETURN(document,
                             MakeTower(config, "document", tensors, storage));
  }
  return TwoTowerModel::Create(std::move(version), std::move(config),
                               std::move(featurizer), query,
                               std::move(document));
}

}  // namespace semrank
