#include "model/format/ssi_tensors.h"

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/nn/sparse_scorer.h"
#include "model/nn/ssi_tower.h"

namespace semrank {
namespace {

// Texts are vectors of length 1 over at most a few thousand words, so sums of
// products of such values stay below 1e30.
constexpr float kMaxWeight = 1e6f;

std::span<const float> Values(const TensorView& tensor) {
  std::int64_t count = 1;
  for (const std::int64_t size : tensor.shape) count *= size;
  return {tensor.data, static_cast<std::size_t>(count)};
}

absl::Status CheckWeights(const TensorView& tensor, float lowest) {
  for (const float value : Values(tensor)) {
    if (value >= lowest && value <= kMaxWeight) continue;
    return absl::InvalidArgumentError(
        absl::StrFormat("tensor \"%s\" holds %g; values must be %g to %g",
                        tensor.name, value, lowest, kMaxWeight));
  }
  return absl::OkStatus();
}

// Each word's rows come first, then -1 to the end.
absl::Status CheckCorrelated(const v1::SsiSpec& ssi, const TensorView& tensor) {
  const auto num_rows = static_cast<float>(ssi.num_frequent_words());
  const std::size_t top_k = ssi.correlated_top_k();
  const std::span<const float> rows = Values(tensor);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const float row = rows[i];
    const bool is_row = row >= 0 && row < num_rows && row == std::floor(row);
    const bool after_none = i % top_k > 0 && rows[i - 1] < 0;
    if ((is_row && !after_none) || row == -1) continue;
    return absl::InvalidArgumentError(absl::StrFormat(
        "tensor \"%s\" holds %g at %d; it must be a row below %g, or -1 where "
        "a word has no more of them",
        tensor.name, row, i, num_rows));
  }
  return absl::OkStatus();
}

const float* DataOf(const TensorMap& tensors, const std::string& name) {
  const auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : found->second.data;
}

SsiRows RowsOf(const v1::ModelConfig& config, const TensorMap& tensors) {
  const std::int64_t num_words = config.features().num_words();
  return {.num_words = static_cast<int>(num_words),
          .num_rows = static_cast<int>(NumSsiRows(config.ssi(), num_words)),
          .top_k = static_cast<int>(config.ssi().correlated_top_k()),
          .correlated = DataOf(tensors, kCorrelatedTensor)};
}

absl::StatusOr<std::shared_ptr<const Tower>> MakeSsiTower(
    const v1::ModelConfig& config, const std::string& prefix,
    const TensorMap& tensors, std::shared_ptr<const void> storage) {
  SEMRANK_ASSIGN_OR_RETURN(
      std::unique_ptr<SsiTower> tower,
      SsiTower::Create({.idf = DataOf(tensors, kIdfTensor),
                        .rows = RowsOf(config, tensors),
                        .dim = static_cast<int>(config.embedding_dim()),
                        .table = DataOf(tensors, prefix + ".0.weight")},
                       std::move(storage)));
  return std::shared_ptr<const Tower>(std::move(tower));
}

// Null for the variant that has none.
absl::StatusOr<std::shared_ptr<const SparseScorer>> MakeSparseScorer(
    const v1::ModelConfig& config, const TensorMap& tensors,
    std::shared_ptr<const void> storage) {
  if (config.ssi().variant() == v1::SSI_VARIANT_LOW_RANK_NO_IDENTITY) {
    return nullptr;
  }
  SEMRANK_ASSIGN_OR_RETURN(
      std::unique_ptr<SparseScorer> scorer,
      SparseScorer::Create(
          {.num_words = static_cast<int>(config.features().num_words()),
           .idf = DataOf(tensors, kIdfTensor),
           .diagonal = DataOf(tensors, kDiagonalTensor),
           .matrix = DataOf(tensors, kMatrixTensor),
           .pair_weights = DataOf(tensors, kPairWeightsTensor),
           .num_buckets = config.ssi().pair_hash_buckets()},
          std::move(storage)));
  return std::shared_ptr<const SparseScorer>(std::move(scorer));
}

}  // namespace

bool HasSsiVectors(v1::SsiVariant variant) {
  return variant != v1::SSI_VARIANT_DIAGONAL && variant != v1::SSI_VARIANT_FULL;
}

std::int64_t NumSsiRows(const v1::SsiSpec& ssi, std::int64_t num_words) {
  if (!HasSsiVectors(ssi.variant())) return 0;
  if (ssi.num_dense_words() > 0) return ssi.num_dense_words();
  if (ssi.num_frequent_words() > 0) return ssi.num_frequent_words();
  return num_words;
}

std::vector<ExpectedTensor> ExpectedSsiTensors(const v1::ModelConfig& config) {
  const v1::SsiSpec& ssi = config.ssi();
  const std::int64_t num_words = config.features().num_words();
  const std::int64_t num_rows = NumSsiRows(ssi, num_words);
  std::vector<ExpectedTensor> tensors = {{kIdfTensor, {num_words}}};
  if (ssi.correlated_top_k() > 0) {
    tensors.push_back(
        {kCorrelatedTensor, {num_words - num_rows, ssi.correlated_top_k()}});
  }
  if (num_rows > 0) {
    for (const std::string& prefix : TensorPrefixes(config)) {
      tensors.push_back(
          {prefix + ".0.weight", {num_rows, config.embedding_dim()}});
    }
  }
  if (ssi.variant() == v1::SSI_VARIANT_DIAGONAL) {
    tensors.push_back({kDiagonalTensor, {num_words}});
  } else if (ssi.pair_hash_buckets() > 0) {
    tensors.push_back({kPairWeightsTensor, {ssi.pair_hash_buckets()}});
  } else if (ssi.variant() == v1::SSI_VARIANT_FULL) {
    tensors.push_back({kMatrixTensor, {num_words, num_words}});
  }
  return tensors;
}

absl::Status CheckSsiValues(const v1::ModelConfig& config,
                            const TensorMap& tensors) {
  for (const auto& [name, tensor] : tensors) {
    if (name == kCorrelatedTensor) {
      SEMRANK_RETURN_IF_ERROR(CheckCorrelated(config.ssi(), tensor));
    } else {
      SEMRANK_RETURN_IF_ERROR(
          CheckWeights(tensor, name == kIdfTensor ? 0 : -kMaxWeight));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const TwoTowerModel>> MakeSsiModel(
    ModelVersion version, v1::ModelConfig config, Featurizer featurizer,
    const TensorMap& tensors, std::shared_ptr<const void> storage) {
  SEMRANK_ASSIGN_OR_RETURN(const std::shared_ptr<const Tower> query,
                           MakeSsiTower(config, "query", tensors, storage));
  std::shared_ptr<const Tower> document = query;
  if (!config.shared_towers()) {
    SEMRANK_ASSIGN_OR_RETURN(
        document, MakeSsiTower(config, "document", tensors, storage));
  }
  SEMRANK_ASSIGN_OR_RETURN(
      std::shared_ptr<const SparseScorer> sparse,
      MakeSparseScorer(config, tensors, std::move(storage)));
  return TwoTowerModel::Create(std::move(version), std::move(config),
                               std::move(featurizer), query,
                               std::move(document), std::move(sparse));
}

}  // namespace semrank
