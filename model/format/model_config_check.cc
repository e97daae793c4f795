#include <cmath>
#include <cstdint>
#include <limits>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/format/manifest.h"
#include "model/format/model_config.h"
#include "model/nn/clsm_tower.h"
#include "model/text/ngram_vocabulary.h"
#include "model/text/normalizer.h"

namespace semrank {
namespace {

absl::Status Wrong(std::string_view field, std::string_view value,
                   std::string_view rule) {
  return absl::InvalidArgumentError(
      absl::StrFormat("%s is %s; %s", field, value, rule));
}

absl::Status CheckRange(std::string_view field, std::uint32_t value,
                        std::uint32_t low, std::uint32_t high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return Wrong(field, absl::StrFormat("%d", value),
               absl::StrFormat("it must be from %d to %d", low, high));
}

// Version numbers that count up from 1.
absl::Status CheckVersion(std::string_view field, std::uint32_t version,
                          int known) {
  if (version > static_cast<std::uint32_t>(known)) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s is %d; this release knows versions up to %d", field,
                        version, known));
  }
  return CheckRange(field, version, 1, static_cast<std::uint32_t>(known));
}

absl::Status CheckTower(const v1::ModelConfig& config) {
  const std::string name = v1::TowerKind_Name(config.tower());
  switch (config.tower()) {
    case v1::TOWER_KIND_DSSM:
      if (config.activation() != v1::ACTIVATION_TANH) {
        return Wrong("activation", v1::Activation_Name(config.activation()),
                     "TOWER_KIND_DSSM has ACTIVATION_TANH");
      }
      return CheckRange("number of hidden_dims",
                        static_cast<std::uint32_t>(config.hidden_dims_size()),
                        0, kMaxHiddenLayers);
    case v1::TOWER_KIND_LINEAR:
      if (config.activation() != v1::ACTIVATION_TANH &&
          config.activation() != v1::ACTIVATION_IDENTITY) {
        return Wrong("activation", v1::Activation_Name(config.activation()),
                     "it must be ACTIVATION_IDENTITY or ACTIVATION_TANH");
      }
      return CheckRange("number of hidden_dims",
                        static_cast<std::uint32_t>(config.hidden_dims_size()),
                        0, 0);
    case v1::TOWER_KIND_CLSM:
      if (config.activation() != v1::ACTIVATION_TANH) {
        return Wrong("activation", v1::Activation_Name(config.activation()),
                     "TOWER_KIND_CLSM has ACTIVATION_TANH");
      }
      return CheckRange("number of hidden_dims",
                        static_cast<std::uint32_t>(config.hidden_dims_size()),
                        1, kMaxHiddenLayers);
    case v1::TOWER_KIND_SSI:
      return absl::UnimplementedError(absl::StrFormat(
          "tower is %s, which this release cannot compute", name));
    default:
      return Wrong("tower", absl::StrFormat("%d", int{config.tower()}),
                   "it must be a kind of tower that this release knows");
  }
}

absl::Status CheckDimensions(const v1::ModelConfig& config) {
  for (const std::uint32_t width : config.hidden_dims()) {
    SEMRANK_RETURN_IF_ERROR(
        CheckRange("a value of hidden_dims", width, 1, kMaxLayerWidth));
  }
  return CheckRange("embedding_dim", config.embedding_dim(), 1, kMaxLayerWidth);
}

absl::Status CheckNgrams(const v1::FeatureSpec& features, bool has_letters) {
  if (!has_letters) {
    SEMRANK_RETURN_IF_ERROR(
        CheckRange("features.ngram_length", features.ngram_length(), 0, 0));
    SEMRANK_RETURN_IF_ERROR(
        CheckRange("features.hash_buckets", features.hash_buckets(), 0, 0));
    return CheckRange("features.num_ngrams", features.num_ngrams(), 0, 0);
  }
  SEMRANK_RETURN_IF_ERROR(CheckRange("features.ngram_length",
                                     features.ngram_length(), kMinNgramLength,
                                     kMaxNgramLength));
  SEMRANK_RETURN_IF_ERROR(CheckRange(
      "features.num_ngrams", features.num_ngrams(), 1, kMaxVocabularySize));
  if (features.hash_buckets() == 0) return absl::OkStatus();
  return CheckRange("features.hash_buckets", features.hash_buckets(),
                    features.num_ngrams(), features.num_ngrams());
}

absl::Status CheckFeatures(const v1::FeatureSpec& features) {
  SEMRANK_RETURN_IF_ERROR(CheckVersion("features.normalizer_version",
                                       features.normalizer_version(),
                                       kNormalizerVersion));
  if (features.kind() < v1::FEATURE_KIND_LETTERS ||
      features.kind() > v1::FEATURE_KIND_LETTERS_AND_WORDS) {
    return Wrong("features.kind", absl::StrFormat("%d", int{features.kind()}),
                 "it must be a kind of features that this release knows");
  }
  SEMRANK_RETURN_IF_ERROR(
      CheckNgrams(features, features.kind() != v1::FEATURE_KIND_WORDS));
  const bool has_words = features.kind() != v1::FEATURE_KIND_LETTERS;
  SEMRANK_RETURN_IF_ERROR(CheckRange("features.num_words", features.num_words(),
                                     has_words ? 1 : 0,
                                     has_words ? kMaxVocabularySize : 0));
  if (features.weighting() == v1::FEATURE_WEIGHTING_UNSPECIFIED ||
      features.weighting() == v1::FEATURE_WEIGHTING_COUNT) {
    return absl::OkStatus();
  }
  return absl::UnimplementedError(absl::StrFormat(
      "features.weighting is %d, which this release cannot compute",
      int{features.weighting()}));
}

// So the inputs of a convolution can be counted in an int.
static_assert(2 * std::int64_t{kMaxVocabularySize} * kMaxClsmWindow <=
              std::numeric_limits<int>::max());

absl::Status CheckWindow(const v1::ModelConfig& config) {
  const std::uint32_t window = config.clsm_window();
  if (config.tower() != v1::TOWER_KIND_CLSM) {
    return CheckRange("clsm_window", window, 0, 0);
  }
  SEMRANK_RETURN_IF_ERROR(CheckRange("clsm_window", window, 1, kMaxClsmWindow));
  if (window % 2 == 1) return absl::OkStatus();
  return Wrong("clsm_window", absl::StrFormat("%d", window), "it must be odd");
}

absl::Status CheckScore(const v1::ModelConfig& config) {
  if (!std::isfinite(config.gamma()) || config.gamma() < 0) {
    return Wrong("gamma", absl::StrFormat("%g", config.gamma()),
                 "it must be finite and not negative");
  }
  switch (config.score_kind()) {
    case v1::SCORE_KIND_COSINE:
      return absl::OkStatus();
    case v1::SCORE_KIND_SSI_DOT:
      return absl::UnimplementedError(
          "score_kind is SCORE_KIND_SSI_DOT, which this release cannot "
          "compute");
    default:
      return Wrong("score_kind",
                   absl::StrFormat("%d", int{config.score_kind()}),
                   "it must be SCORE_KIND_COSINE");
  }
}

}  // namespace

absl::Status CheckModelConfig(const v1::ModelConfig& config) {
  SEMRANK_RETURN_IF_ERROR(
      CheckVersion("format_version", config.format_version(), kFormatVersion));
  SEMRANK_RETURN_IF_ERROR(CheckTower(config));
  SEMRANK_RETURN_IF_ERROR(CheckDimensions(config));
  SEMRANK_RETURN_IF_ERROR(CheckFeatures(config.features()));
  SEMRANK_RETURN_IF_ERROR(CheckScore(config));
  SEMRANK_RETURN_IF_ERROR(CheckWindow(config));
  if (config.has_ssi()) {
    return absl::InvalidArgumentError(
        "ssi is there, but the tower has no use for it");
  }
  return absl::OkStatus();
}

}  // namespace semrank
