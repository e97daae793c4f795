#include "model/format/model_tensors.h"

#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/status_macros.h"
#include "model/format/model_config.h"
#include "model/nn/clsm_tower.h"
#include "model/nn/dssm_tower.h"
#include "model/nn/lexical_part.h"
#include "model/nn/sparse_scorer.h"
#include "model/nn/ssi_tower.h"

namespace semrank {
namespace {

std::string FormatShape(const std::vector<std::int64_t>& shape) {
  return absl::StrFormat("[%s]", absl::StrJoin(shape, ", "));
}

bool AllFinite(const TensorView& tensor) {
  // Zero times a value is zero unless the value is infinite or NaN, which stays
  // in the sum. So one pass without a branch suffices.
  float sum = 0;
  for (const float value : tensor.values()) sum += value * 0.0f;
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
  if ((tensor.int8_data != nullptr) != expected.is_int8) {
    return absl::InvalidArgumentError(
        absl::StrFormat("tensor \"%s\" is not of the type that the "
                        "configuration asks for",
                        expected.name));
  }
  // int8 cannot represent NaN or infinity.
  if (expected.is_int8) return absl::OkStatus();
  if (tensor.data == nullptr || !AllFinite(tensor)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "tensor \"%s\" holds NaN or infinity, or nothing", expected.name));
  }
  return absl::OkStatus();
}

// Texts are vectors of length 1 over at most a few thousand words, so sums of
// products of such values stay below 1e30.
constexpr float kMaxWeight = 1e6f;

absl::Status CheckWeights(const TensorView& tensor, float lowest) {
  for (const float value : tensor.values()) {
    if (value >= lowest && value <= kMaxWeight) continue;
    return absl::InvalidArgumentError(
        absl::StrFormat("tensor \"%s\" holds %g; values must be %g to %g",
                        tensor.name, value, lowest, kMaxWeight));
  }
  return absl::OkStatus();
}

// Each word lists its rows, then -1 to the end.
absl::Status CheckCorrelated(const v1::SsiSpec& ssi, const TensorView& tensor) {
  // The file has floats only. Rows are below 2^24, so each is exact.
  const auto num_rows = static_cast<float>(ssi.num_frequent_words());
  const std::size_t top_k = ssi.correlated_top_k();
  const std::span<const float> rows = tensor.values();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const float row = rows[i];
    const bool is_row = row >= 0 && row < num_rows && row == std::floor(row);
    const bool after_none = i % top_k > 0 && rows[i - 1] < 0;
    if ((is_row && !after_none) || row == -1) continue;
    return absl::InvalidArgumentError(absl::StrFormat(
        "tensor \"%s\" holds %g at %d; it must be a row below %g, or -1 "
        "after the last row of a word",
        tensor.name, row, i, num_rows));
  }
  return absl::OkStatus();
}

const float* DataOf(const TensorMap& tensors, const std::string& name) {
  const auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : found->second.data;
}

SsiRows RowsOf(const v1::ModelConfig& config, const TensorMap& tensors) {
  const std::int64_t num_words = NumFeatures(config.features());
  return {.num_words = static_cast<int>(num_words),
          .num_rows = static_cast<int>(NumSsiRows(config.ssi(), num_words)),
          .top_k = static_cast<int>(config.ssi().correlated_top_k()),
          .correlated = DataOf(tensors, kCorrelatedTensor),
          .same_rank = PairsSameRank(config.ssi()),
          .mixing = DataOf(tensors, kMixingTensor)};
}

// The tower whose tensors begin with `prefix`, "query" or "document".
absl::StatusOr<std::shared_ptr<const Tower>> MakeTower(
    const v1::ModelConfig& config, const std::string& prefix,
    const TensorMap& tensors, VectorPrecision precision,
    std::shared_ptr<const void> storage) {
  if (config.tower() == v1::TOWER_KIND_SSI) {
    // The table is U or V transposed, a row for each word: the sum of rows that
    // the tower computes is U q or V d (SSI 2.2).
    return SsiTower::Create({.idf = DataOf(tensors, kIdfTensor),
                             .rows = RowsOf(config, tensors),
                             .dim = static_cast<int>(config.embedding_dim()),
                             .table = DataOf(tensors, prefix + ".0.weight")},
                            std::move(storage));
  }
  const std::vector<std::int64_t> widths = LayerWidths(config);
  std::vector<LayerView> layers;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    const std::string layer = absl::StrFormat("%s.%d", prefix, i);
    // at() finds every name, as CheckTensors has accepted the tensors.
    layers.push_back({.in = static_cast<int>(widths[i]),
                      .out = static_cast<int>(widths[i + 1]),
                      .weight = tensors.at(layer + ".weight").data,
                      .bias = tensors.at(layer + ".bias").data});
  }
  if (config.tower() == v1::TOWER_KIND_CLSM) {
    return ClsmTower::Create(layers, static_cast<int>(config.clsm_window()),
                             std::move(storage), precision);
  }
  const Activation activation = config.activation() == v1::ACTIVATION_TANH
                                    ? Activation::kTanh
                                    : Activation::kLinear;
  return DssmTower::Create(layers, activation, std::move(storage), precision);
}

// Returns null for a tower that has none, and for U'V without I, whose whole
// score is a dot product of vectors.
absl::StatusOr<std::shared_ptr<const SparseScorer>> MakeSparseScorer(
    const v1::ModelConfig& config, const TensorMap& tensors,
    std::shared_ptr<const void> storage) {
  if (config.tower() != v1::TOWER_KIND_SSI ||
      config.ssi().variant() == v1::SSI_VARIANT_LOW_RANK_NO_IDENTITY) {
    return nullptr;
  }
  return SparseScorer::Create(
      {.num_words = static_cast<int>(NumFeatures(config.features())),
       .idf = DataOf(tensors, kIdfTensor),
       .diagonal = DataOf(tensors, kDiagonalTensor),
       .matrix = DataOf(tensors, kMatrixTensor),
       .pair_weights = DataOf(tensors, kPairWeightsTensor),
       .num_buckets = config.ssi().pair_hash_buckets(),
       .adds_identity =
           config.ssi().variant() != v1::SSI_VARIANT_FULL_NO_IDENTITY},
      std::move(storage));
}

// InvalidArgument for a value with which a score could overflow single
// precision, an idf below 0, or a correlated word that is not a row. Names and
// shapes were checked.
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

// Returns null for a model without a lexical part.
absl::StatusOr<std::shared_ptr<const LexicalPart>> MakeLexicalPart(
    const v1::ModelConfig& config, const TensorMap& tensors,
    std::shared_ptr<const void> storage) {
  if (!config.has_lexical()) return nullptr;
  const v1::LexicalSpec& spec = config.lexical();
  return LexicalPart::Create(
      {.ngram_length = static_cast<int>(spec.ngram_length()),
       .num_buckets = static_cast<int>(spec.num_buckets()),
       .idf = DataOf(tensors, kLexicalIdfTensor),
       .weight = spec.weight()},
      std::move(storage));
}

}  // namespace

absl::Status CheckTensors(const v1::ModelConfig& config,
                          const TensorMap& tensors) {
  const std::vector<ExpectedTensor> expected = ExpectedTensors(config);
  for (const ExpectedTensor& tensor : expected) {
    SEMRANK_RETURN_IF_ERROR(CheckTensor(tensor, tensors));
  }
  // Every expected name was found, so equal numbers mean that there is
  // no other.
  if (tensors.size() == expected.size()) {
    if (config.tower() == v1::TOWER_KIND_SSI) {
      return CheckSsiValues(config, tensors);
    }
    return config.has_lexical() ? CheckWeights(tensors.at(kLexicalIdfTensor), 0)
                                : absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrFormat("%d tensors; the configuration asks for %d",
                      tensors.size(), expected.size()));
}

absl::StatusOr<std::shared_ptr<const TwoTowerModel>> MakeModel(
    ModelVersion version, v1::ModelConfig config, Featurizer featurizer,
    const TensorMap& tensors, std::shared_ptr<const void> storage) {
  const auto make_tower = [&](const std::string& prefix) {
    return MakeTower(config, prefix, tensors, version.vector_precision,
                     storage);
  };
  SEMRANK_ASSIGN_OR_RETURN(const std::shared_ptr<const Tower> query,
                           make_tower("query"));
  std::shared_ptr<const Tower> document = query;
  if (!config.shared_towers()) {
    SEMRANK_ASSIGN_OR_RETURN(document, make_tower("document"));
  }
  SEMRANK_ASSIGN_OR_RETURN(std::shared_ptr<const SparseScorer> sparse,
                           MakeSparseScorer(config, tensors, storage));
  SEMRANK_ASSIGN_OR_RETURN(
      std::shared_ptr<const LexicalPart> lexical,
      MakeLexicalPart(config, tensors, std::move(storage)));
  return TwoTowerModel::Create(
      std::move(version), std::move(config), std::move(featurizer), query,
      std::move(document),
      {.sparse_scorer = std::move(sparse), .lexical = std::move(lexical)});
}

}  // namespace semrank
