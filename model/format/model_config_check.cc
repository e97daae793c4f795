// The rules of the table in FORMAT.md (config.json), a function for each group
// of fields. Later functions rely on what earlier ones have accepted.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/format/manifest.h"
#include "model/format/model_config.h"
#include "model/nn/clsm_tower.h"
#include "model/nn/lexical_part.h"
#include "model/text/ngram_vocabulary.h"
#include "model/text/normalizer.h"

namespace semrank {
namespace {

// The form of every message of this file: field, value, rule.
absl::Status WrongField(std::string_view field, const absl::AlphaNum& value,
                        std::string_view rule) {
  return absl::InvalidArgumentError(
      absl::StrFormat("%s is %s; %s", field, value.Piece(), rule));
}

absl::Status CheckFieldRange(std::string_view field, std::uint32_t value,
                             std::uint32_t low, std::uint32_t high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return WrongField(field, value,
                    absl::StrFormat("it must be from %d to %d", low, high));
}

// Checks a version number, which begins at 1.
absl::Status CheckVersion(std::string_view field, std::uint32_t version,
                          int known) {
  if (version > static_cast<std::uint32_t>(known)) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s is %d; this release knows versions up to %d", field,
                        version, known));
  }
  return CheckFieldRange(field, version, 1, static_cast<std::uint32_t>(known));
}

absl::Status CheckHiddenLayers(const v1::ModelConfig& config, std::uint32_t low,
                               std::uint32_t high) {
  return CheckFieldRange("number of hidden_dims",
                         static_cast<std::uint32_t>(config.hidden_dims_size()),
                         low, high);
}

absl::Status CheckActivation(const v1::ModelConfig& config,
                             v1::Activation expected) {
  if (config.activation() == expected) return absl::OkStatus();
  return WrongField(
      "activation", v1::Activation_Name(config.activation()),
      absl::StrFormat("%s has %s", v1::TowerKind_Name(config.tower()),
                      v1::Activation_Name(expected)));
}

absl::Status CheckTower(const v1::ModelConfig& config) {
  switch (config.tower()) {
    case v1::TOWER_KIND_DSSM:
      SEMRANK_RETURN_IF_ERROR(CheckActivation(config, v1::ACTIVATION_TANH));
      return CheckHiddenLayers(config, 0, kMaxHiddenLayers);
    // The first hidden layer is the convolution and its max pooling (CLSM 3.3,
    // 3.4); the semantic layer (3.5) comes after it.
    case v1::TOWER_KIND_CLSM:
      SEMRANK_RETURN_IF_ERROR(CheckActivation(config, v1::ACTIVATION_TANH));
      return CheckHiddenLayers(config, 1, kMaxHiddenLayers);
    case v1::TOWER_KIND_SSI:
      SEMRANK_RETURN_IF_ERROR(CheckActivation(config, v1::ACTIVATION_IDENTITY));
      return CheckHiddenLayers(config, 0, 0);
    // Rows 10 and 11 of DSSM's table 2: a single layer, with or without tanh.
    case v1::TOWER_KIND_LINEAR:
      if (config.activation() != v1::ACTIVATION_TANH &&
          config.activation() != v1::ACTIVATION_IDENTITY) {
        return WrongField("activation",
                          v1::Activation_Name(config.activation()),
                          "it must be ACTIVATION_IDENTITY or ACTIVATION_TANH");
      }
      return CheckHiddenLayers(config, 0, 0);
    default:
      return WrongField("tower", int{config.tower()},
                        "it must be a kind of tower that this release knows");
  }
}

absl::Status CheckDimensions(const v1::ModelConfig& config) {
  for (const std::uint32_t width : config.hidden_dims()) {
    SEMRANK_RETURN_IF_ERROR(
        CheckFieldRange("a value of hidden_dims", width, 1, kMaxLayerWidth));
  }
  // SSI's embedding_dim depends on its variant (CheckSsiShape).
  if (config.tower() == v1::TOWER_KIND_SSI) return absl::OkStatus();
  return CheckFieldRange("embedding_dim", config.embedding_dim(), 1,
                         kMaxLayerWidth);
}

absl::Status CheckNgrams(const v1::FeatureSpec& features, bool has_letters) {
  if (!has_letters) {
    SEMRANK_RETURN_IF_ERROR(CheckFieldRange("features.ngram_length",
                                            features.ngram_length(), 0, 0));
    SEMRANK_RETURN_IF_ERROR(CheckFieldRange("features.hash_buckets",
                                            features.hash_buckets(), 0, 0));
    return CheckFieldRange("features.num_ngrams", features.num_ngrams(), 0, 0);
  }
  SEMRANK_RETURN_IF_ERROR(CheckFieldRange("features.ngram_length",
                                          features.ngram_length(),
                                          kMinNgramLength, kMaxNgramLength));
  SEMRANK_RETURN_IF_ERROR(CheckFieldRange(
      "features.num_ngrams", features.num_ngrams(), 1, kMaxVocabularySize));
  if (features.hash_buckets() == 0) return absl::OkStatus();
  // Each bucket is a feature.
  return CheckFieldRange("features.hash_buckets", features.hash_buckets(),
                         features.num_ngrams(), features.num_ngrams());
}

absl::Status CheckListed(std::string_view field, std::uint32_t size,
                         bool is_there) {
  return CheckFieldRange(field, size, is_there ? 1 : 0,
                         is_there ? kMaxVocabularySize : 0);
}

absl::Status CheckFeatures(const v1::FeatureSpec& features, bool is_ssi) {
  SEMRANK_RETURN_IF_ERROR(CheckVersion("features.normalizer_version",
                                       features.normalizer_version(),
                                       kNormalizerVersion));
  if (features.kind() < v1::FEATURE_KIND_LETTERS ||
      features.kind() > v1::FEATURE_KIND_LETTERS_WORDS_AND_BIGRAMS) {
    return WrongField("features.kind", int{features.kind()},
                      "it must be a kind of features that this release knows");
  }
  SEMRANK_RETURN_IF_ERROR(CheckNgrams(features, HasLetters(features.kind())));
  SEMRANK_RETURN_IF_ERROR(CheckListed(
      "features.num_words", features.num_words(), HasWords(features.kind())));
  SEMRANK_RETURN_IF_ERROR(CheckListed("features.num_bigrams",
                                      features.num_bigrams(),
                                      HasBigrams(features.kind())));
  const bool counts =
      features.weighting() == v1::FEATURE_WEIGHTING_UNSPECIFIED ||
      features.weighting() == v1::FEATURE_WEIGHTING_COUNT;
  if (is_ssi ? features.weighting() == v1::FEATURE_WEIGHTING_TF_IDF : counts) {
    return absl::OkStatus();
  }
  if (is_ssi && counts) {
    return WrongField("features.weighting",
                      v1::FeatureWeighting_Name(features.weighting()),
                      "TOWER_KIND_SSI has FEATURE_WEIGHTING_TF_IDF");
  }
  // TF-IDF without SSI, or a value that a newer release may know: the file is
  // not wrong.
  return absl::UnimplementedError(absl::StrFormat(
      "features.weighting is %d, which this release cannot compute",
      int{features.weighting()}));
}

// An int can thus count the inputs of a convolution, and three vocabularies.
static_assert(2 * std::int64_t{kMaxVocabularySize} * kMaxClsmWindow <=
              std::numeric_limits<int>::max());

absl::Status CheckWindow(const v1::ModelConfig& config) {
  const std::uint32_t window = config.clsm_window();
  if (config.tower() != v1::TOWER_KIND_CLSM) {
    return CheckFieldRange("clsm_window", window, 0, 0);
  }
  if (HasBigrams(config.features().kind())) {
    return WrongField("features.kind",
                      v1::FeatureKind_Name(config.features().kind()),
                      "TOWER_KIND_CLSM has no bigrams");
  }
  SEMRANK_RETURN_IF_ERROR(
      CheckFieldRange("clsm_window", window, 1, kMaxClsmWindow));
  // n = 2d + 1 (CLSM eq. 1): as many words on one side as on the other.
  if (window % 2 == 1) return absl::OkStatus();
  return WrongField("clsm_window", window, "it must be odd");
}

absl::Status CheckScore(const v1::ModelConfig& config) {
  if (!std::isfinite(config.gamma()) || config.gamma() < 0) {
    return WrongField("gamma", config.gamma(),
                      "it must be finite and not negative");
  }
  const v1::ScoreKind expected = config.tower() == v1::TOWER_KIND_SSI
                                     ? v1::SCORE_KIND_SSI_DOT
                                     : v1::SCORE_KIND_COSINE;
  if (config.score_kind() == expected) return absl::OkStatus();
  return WrongField(
      "score_kind", int{config.score_kind()},
      absl::StrFormat("it must be %s", v1::ScoreKind_Name(expected)));
}

absl::Status CheckSsiShape(const v1::ModelConfig& config) {
  const v1::SsiVariant variant = config.ssi().variant();
  if (variant < v1::SSI_VARIANT_LOW_RANK ||
      variant > v1::SSI_VARIANT_FULL_NO_IDENTITY) {
    return WrongField("ssi.variant", int{variant},
                      "it must be a variant that this release knows");
  }
  const bool has_vectors = HasSsiVectors(variant);
  SEMRANK_RETURN_IF_ERROR(
      CheckFieldRange("embedding_dim", config.embedding_dim(),
                      has_vectors ? 1 : 0, has_vectors ? kMaxLayerWidth : 0));
  // U'U + I has one table for both sides.
  const bool symmetric = variant == v1::SSI_VARIANT_SYMMETRIC;
  if (config.shared_towers() != symmetric) {
    return WrongField("shared_towers", symmetric ? "false" : "true",
                      "SSI_VARIANT_SYMMETRIC shares its tower, and no other");
  }
  return absl::OkStatus();
}

// Checks which words have rows in U and V.
absl::Status CheckSsiRows(const v1::ModelConfig& config) {
  const v1::SsiSpec& ssi = config.ssi();
  const bool has_vectors = HasSsiVectors(ssi.variant());
  // num_dense_words == num_words is written as 0, so that equal models have
  // equal files.
  const bool hashes =
      MatchesUnknownWords(ssi.variant(), ssi.pair_hash_buckets() > 0);
  // The buckets follow the words, so bigrams would have no rows of U and V.
  const bool has_bigrams = HasBigrams(config.features().kind());
  const auto num_words =
      static_cast<std::uint32_t>(NumFeatures(config.features()));
  SEMRANK_RETURN_IF_ERROR(CheckFieldRange(
      "ssi.unknown_word_buckets", ssi.unknown_word_buckets(), 0,
      hashes && !has_bigrams
          ? std::min<std::uint32_t>(num_words - 1, kMaxUnknownWordBuckets)
          : 0));
  // num_dense_words is below the number of listed words, of which the check
  // above leaves at least one.
  const std::uint32_t last_word = num_words - ssi.unknown_word_buckets() - 1;
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

// Checks which correlated words of two texts are compared (SSI eq. 6, 7).
absl::Status CheckSsiParts(const v1::ModelConfig& config) {
  const v1::SsiSpec& ssi = config.ssi();
  const bool correlated = ssi.correlated_top_k() > 0;
  const v1::CorrelatedPairing pairing = ssi.correlated_pairing();
  const bool is_known = pairing >= v1::CORRELATED_PAIRING_UNSPECIFIED &&
                        pairing <= v1::CORRELATED_PAIRING_SAME_RANK;
  if (!is_known ||
      (pairing != v1::CORRELATED_PAIRING_UNSPECIFIED && !correlated)) {
    return WrongField("ssi.correlated_pairing", int{pairing},
                      "it must be a pairing that this release knows, and 0 "
                      "without correlated_top_k");
  }
  if (ssi.mixes_parts() && !correlated) {
    return WrongField("ssi.mixes_parts", "true",
                      "it must be false without correlated_top_k");
  }
  return CheckFieldRange(
      "embedding_dim times the blocks of a vector",
      static_cast<std::uint32_t>(config.embedding_dim() * NumSsiBlocks(ssi)), 0,
      kMaxLayerWidth);
}

absl::Status CheckSsiMatrix(const v1::ModelConfig& config) {
  const v1::SsiSpec& ssi = config.ssi();
  const bool hashed = ssi.variant() == v1::SSI_VARIANT_FULL_NO_IDENTITY;
  const bool full = hashed || ssi.variant() == v1::SSI_VARIANT_FULL;
  SEMRANK_RETURN_IF_ERROR(
      CheckFieldRange("ssi.pair_hash_buckets", ssi.pair_hash_buckets(),
                      hashed ? 1 : 0, full ? kMaxPairHashBuckets : 0));
  if (!full || ssi.pair_hash_buckets() > 0) return absl::OkStatus();
  return CheckFieldRange(
      "features.num_words and num_bigrams of SSI_VARIANT_FULL",
      NumFeatures(config.features()), 1, kMaxMatrixWords);
}

// Checks the rules for SSI alone; the features are already checked.
absl::Status CheckSsiConfig(const v1::ModelConfig& config) {
  if (!config.has_ssi()) {
    return WrongField("ssi", "absent", "TOWER_KIND_SSI has it");
  }
  if (HasLetters(config.features().kind())) {
    return WrongField("features.kind",
                      v1::FeatureKind_Name(config.features().kind()),
                      "TOWER_KIND_SSI has words, bigrams or both");
  }
  if (config.gamma() != 0) {
    return WrongField("gamma", config.gamma(), "TOWER_KIND_SSI has none");
  }
  SEMRANK_RETURN_IF_ERROR(CheckSsiShape(config));
  SEMRANK_RETURN_IF_ERROR(CheckSsiRows(config));
  SEMRANK_RETURN_IF_ERROR(CheckSsiParts(config));
  return CheckSsiMatrix(config);
}

// A higher version than the fields need would keep older releases from a model
// that they can compute.
absl::Status CheckVersionIsLowest(const v1::ModelConfig& config) {
  const int lowest = FormatVersionOf(config);
  if (config.format_version() == static_cast<std::uint32_t>(lowest)) {
    return absl::OkStatus();
  }
  return WrongField("format_version", config.format_version(),
                    absl::StrFormat("the other fields ask for %d", lowest));
}

absl::Status CheckLexical(const v1::ModelConfig& config) {
  if (!config.has_lexical()) return absl::OkStatus();
  if (config.tower() == v1::TOWER_KIND_SSI) {
    return absl::InvalidArgumentError(
        "lexical is set, but TOWER_KIND_SSI compares words itself");
  }
  const v1::LexicalSpec& lexical = config.lexical();
  // The condition is true for NaN too. A weight of 1 would leave the towers
  // without effect.
  if (!(lexical.weight() >= 0 && lexical.weight() < 1)) {
    return WrongField("lexical.weight", lexical.weight(),
                      "it must be from 0 to below 1");
  }
  SEMRANK_RETURN_IF_ERROR(CheckFieldRange("lexical.ngram_length",
                                          lexical.ngram_length(),
                                          kMinNgramLength, kMaxNgramLength));
  return CheckFieldRange("lexical.num_buckets", lexical.num_buckets(), 1,
                         kMaxLexicalBuckets);
}

absl::Status CheckEncoding(const v1::ModelConfig& config) {
  if (config.weight_encoding() == v1::WEIGHT_ENCODING_UNSPECIFIED) {
    return absl::OkStatus();
  }
  if (config.weight_encoding() != v1::WEIGHT_ENCODING_INT8) {
    return absl::UnimplementedError(
        absl::StrFormat("weight_encoding %d is unknown to this release",
                        static_cast<int>(config.weight_encoding())));
  }
  if (config.tower() == v1::TOWER_KIND_DSSM ||
      config.tower() == v1::TOWER_KIND_LINEAR) {
    return absl::OkStatus();
  }
  return WrongField("weight_encoding",
                    v1::WeightEncoding_Name(config.weight_encoding()),
                    "only DSSM and LINEAR have int8 weights");
}

}  // namespace

// The version comes first, since fields of a newer one may mean something else;
// then the tower, which decides what the other fields may be.
absl::Status CheckModelConfig(const v1::ModelConfig& config) {
  SEMRANK_RETURN_IF_ERROR(
      CheckVersion("format_version", config.format_version(), kFormatVersion));
  SEMRANK_RETURN_IF_ERROR(CheckTower(config));
  SEMRANK_RETURN_IF_ERROR(CheckDimensions(config));
  SEMRANK_RETURN_IF_ERROR(
      CheckFeatures(config.features(), config.tower() == v1::TOWER_KIND_SSI));
  SEMRANK_RETURN_IF_ERROR(CheckScore(config));
  SEMRANK_RETURN_IF_ERROR(CheckWindow(config));
  SEMRANK_RETURN_IF_ERROR(CheckVersionIsLowest(config));
  SEMRANK_RETURN_IF_ERROR(CheckLexical(config));
  SEMRANK_RETURN_IF_ERROR(CheckEncoding(config));
  if (config.tower() == v1::TOWER_KIND_SSI) return CheckSsiConfig(config);
  if (config.has_ssi()) {
    return absl::InvalidArgumentError(
        "ssi is set, but the tower does not use it");
  }
  return absl::OkStatus();
}

}  // namespace semrank
