#include "model/format/ssi_config_check.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/format/config_rules.h"
#include "model/format/model_config.h"
#include "model/format/ssi_tensors.h"

namespace semrank {
namespace {

absl::Status CheckShape(const v1::ModelConfig& config) {
  const v1::SsiVariant variant = config.ssi().variant();
  if (variant < v1::SSI_VARIANT_LOW_RANK ||
      variant > v1::SSI_VARIANT_LOW_RANK_NO_IDENTITY) {
    return WrongField("ssi.variant", absl::StrFormat("%d", int{variant}),
                      "it must be a variant that this release knows");
  }
  const bool has_vectors = HasSsiVectors(variant);
  SEMRANK_RETURN_IF_ERROR(
      CheckFieldRange("embedding_dim", config.embedding_dim(),
                      has_vectors ? 1 : 0, has_vectors ? kMaxLayerWidth : 0));
  const bool symmetric = variant == v1::SSI_VARIANT_SYMMETRIC;
  if (config.shared_towers() != symmetric) {
    return WrongField("shared_towers", symmetric ? "false" : "true",
                      "SSI_VARIANT_SYMMETRIC shares its tower, and no other");
  }
  return absl::OkStatus();
}

// What U and V have rows for.
absl::Status CheckRows(const v1::ModelConfig& config) {
  const v1::SsiSpec& ssi = config.ssi();
  const bool has_vectors = HasSsiVectors(ssi.variant());
  // A row for every word is written as 0, so that equal models are equal files.
  const std::uint32_t last_word = config.features().num_words() - 1;
  SEMRANK_RETURN_IF_ERROR(CheckFieldRange("ssi.num_dense_words",
                                          ssi.num_dense_words(), 0,
                                          has_vectors ? last_word : 0));
  const bool correlated = ssi.correlated_top_k() > 0;
  const bool may_correlate = has_vectors && ssi.num_dense_words() == 0;
  SEMRANK_RETURN_IF_ERROR(
      CheckFieldRange("ssi.correlated_top_k", ssi.correlated_top_k(), 0,
                      may_correlate ? kMaxCorrelatedTopK : 0));
  return CheckFieldRange(
      "ssi.num_frequent_words", ssi.num_frequent_words(), correlated ? 1 : 0,
      correlated ? std::min<std::uint32_t>(last_word, kMaxFrequentWords) : 0);
}

absl::Status CheckMatrix(const v1::ModelConfig& config) {
  const v1::SsiSpec& ssi = config.ssi();
  const bool full = ssi.variant() == v1::SSI_VARIANT_FULL;
  SEMRANK_RETURN_IF_ERROR(CheckFieldRange("ssi.pair_hash_buckets",
                                          ssi.pair_hash_buckets(), 0,
                                          full ? kMaxPairHashBuckets : 0));
  if (!full || ssi.pair_hash_buckets() > 0) return absl::OkStatus();
  return CheckFieldRange("features.num_words of SSI_VARIANT_FULL",
                         config.features().num_words(), 1, kMaxMatrixWords);
}

}  // namespace

absl::Status CheckSsiConfig(const v1::ModelConfig& config) {
  if (!config.has_ssi()) {
    return WrongField("ssi", "absent", "TOWER_KIND_SSI has it");
  }
  if (config.features().kind() != v1::FEATURE_KIND_WORDS) {
    return WrongField("features.kind",
                      v1::FeatureKind_Name(config.features().kind()),
                      "TOWER_KIND_SSI has FEATURE_KIND_WORDS");
  }
  if (config.gamma() != 0) {
    return WrongField("gamma", absl::StrFormat("%g", config.gamma()),
                      "TOWER_KIND_SSI has none");
  }
  SEMRANK_RETURN_IF_ERROR(CheckShape(config));
  SEMRANK_RETURN_IF_ERROR(CheckRows(config));
  return CheckMatrix(config);
}

}  // namespace semrank
