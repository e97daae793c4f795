#include "model/format/model_config.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/format/manifest.h"
#include "model/format/strict_json.h"

namespace semrank {
namespace {

// The shapes of W (SSI 2.2): U'V + I and its variants have a table of vectors
// for each side; the others have a diagonal, all of W, or the weights of hashed
// pairs (SSI 2.2.1).
std::vector<ExpectedTensor> ExpectedSsiTensors(const v1::ModelConfig& config) {
  const v1::SsiSpec& ssi = config.ssi();
  // Bigrams count as words: SSI only compares them for equality.
  const std::int64_t num_words = NumFeatures(config.features());
  const std::int64_t num_rows = NumSsiRows(ssi, num_words);
  std::vector<ExpectedTensor> tensors = {{kIdfTensor, {num_words}}};
  if (ssi.correlated_top_k() > 0) {
    tensors.push_back(
        {kCorrelatedTensor,
         {NumCorrelatedWords(ssi, num_words), ssi.correlated_top_k()}});
  }
  if (num_rows > 0) {
    for (const std::string& prefix : TensorPrefixes(config)) {
      tensors.push_back(
          {prefix + ".0.weight", {num_rows, config.embedding_dim()}});
    }
  }
  if (ssi.mixes_parts()) tensors.push_back({kMixingTensor, {1}});
  if (ssi.variant() == v1::SSI_VARIANT_DIAGONAL) {
    tensors.push_back({kDiagonalTensor, {num_words}});
  } else if (ssi.pair_hash_buckets() > 0) {
    tensors.push_back({kPairWeightsTensor, {ssi.pair_hash_buckets()}});
  } else if (ssi.variant() == v1::SSI_VARIANT_FULL) {
    tensors.push_back({kMatrixTensor, {num_words, num_words}});
  }
  return tensors;
}

// Protobuf takes embedding_dim and embeddingDim for one field, and of both the
// later value. This compares names without case and '_', which is stricter.
// ParseStrictJson has bounded the depth of the recursion.
absl::Status CheckSpellings(const nlohmann::json& value) {
  if (!value.is_structured()) return absl::OkStatus();
  std::set<std::string> fields;
  for (const auto& [name, member] : value.items()) {
    SEMRANK_RETURN_IF_ERROR(CheckSpellings(member));
    if (!value.is_object()) continue;
    std::string field;
    for (const char c : name) {
      if (c != '_') field += absl::ascii_tolower(static_cast<unsigned char>(c));
    }
    if (!fields.insert(field).second) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "member \"%s\" is repeated in another spelling", name));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::ModelConfig> ParseModelConfig(std::string_view json) {
  // This check comes first, because Protobuf's parser accepts repeated members
  // and invalid UTF-8.
  SEMRANK_ASSIGN_OR_RETURN(const nlohmann::json parsed, ParseStrictJson(json));
  SEMRANK_RETURN_IF_ERROR(CheckSpellings(parsed));
  google::protobuf::util::JsonParseOptions options;
  // A newer release may add fields that change no vector
  // (FORMAT.md, "Compatibility").
  options.ignore_unknown_fields = true;
  v1::ModelConfig config;
  const auto status = google::protobuf::util::JsonStringToMessage(
      google::protobuf::StringPiece(json.data(), json.size()), &config,
      options);
  if (status.ok()) return config;
  return absl::InvalidArgumentError(absl::StrFormat(
      "not a ModelConfig: %s",
      std::string(status.message().data(), status.message().size())));
}

absl::StatusOr<std::string> FormatModelConfig(const v1::ModelConfig& config) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  // embedding_dim rather than embeddingDim, as in the .proto and the guides.
  options.preserve_proto_field_names = true;
  std::string json;
  const auto status =
      google::protobuf::util::MessageToJsonString(config, &json, options);
  if (status.ok()) return json;
  return absl::InvalidArgumentError(absl::StrFormat(
      "configuration cannot be written as JSON: %s",
      std::string(status.message().data(), status.message().size())));
}

// The lowest version that can describe the model, so that older releases can
// read it if they can compute it.
int FormatVersionOf(const v1::ModelConfig& config) {
  if (config.weight_encoding() == v1::WEIGHT_ENCODING_INT8) return 4;
  const v1::SsiSpec& ssi = config.ssi();
  if (ssi.variant() == v1::SSI_VARIANT_FULL_NO_IDENTITY || PairsSameRank(ssi) ||
      ssi.mixes_parts()) {
    return 3;
  }
  return config.has_lexical() || ListsBigrams(config) ? 2 : 1;
}

bool HasLetters(v1::FeatureKind kind) {
  return (kind & v1::FEATURE_KIND_LETTERS) != 0;
}

bool HasWords(v1::FeatureKind kind) {
  return (kind & v1::FEATURE_KIND_WORDS) != 0;
}

bool HasBigrams(v1::FeatureKind kind) {
  return (kind & v1::FEATURE_KIND_BIGRAMS) != 0;
}

bool ListsNgrams(const v1::ModelConfig& config) {
  return config.features().num_ngrams() > 0 &&
         config.features().hash_buckets() == 0;
}

bool ListsWords(const v1::ModelConfig& config) {
  return config.features().num_words() > 0;
}

bool ListsBigrams(const v1::ModelConfig& config) {
  return config.features().num_bigrams() > 0;
}

std::vector<std::string> ExpectedFiles(const v1::ModelConfig& config) {
  std::vector<std::string> files = {kConfigFile, kWeightsFile};
  if (ListsNgrams(config)) files.emplace_back(kNgramsFile);
  if (ListsWords(config)) files.emplace_back(kWordsFile);
  if (ListsBigrams(config)) files.emplace_back(kBigramsFile);
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> TensorPrefixes(const v1::ModelConfig& config) {
  // One tower has the name of the query's.
  if (config.shared_towers()) return {"query"};
  return {"query", "document"};
}

std::int64_t NumFeatures(const v1::FeatureSpec& features) {
  return std::int64_t{features.num_ngrams()} +
         std::int64_t{features.num_words()} +
         std::int64_t{features.num_bigrams()};
}

std::vector<std::int64_t> LayerWidths(const v1::ModelConfig& config) {
  // Each position of a CLSM window has rows of its own: W_c is n x num_features
  // rows (CLSM eq. 1, 2).
  const std::int64_t num_places =
      config.tower() == v1::TOWER_KIND_CLSM ? config.clsm_window() : 1;
  std::vector<std::int64_t> widths = {NumFeatures(config.features()) *
                                      num_places};
  widths.insert(widths.end(), config.hidden_dims().begin(),
                config.hidden_dims().end());
  widths.push_back(config.embedding_dim());
  return widths;
}

bool HasSsiVectors(v1::SsiVariant variant) {
  return variant != v1::SSI_VARIANT_DIAGONAL &&
         variant != v1::SSI_VARIANT_FULL &&
         variant != v1::SSI_VARIANT_FULL_NO_IDENTITY;
}

bool MatchesUnknownWords(v1::SsiVariant variant, bool hashes_pairs) {
  if (variant == v1::SSI_VARIANT_FULL) return hashes_pairs;
  return variant != v1::SSI_VARIANT_LOW_RANK_NO_IDENTITY &&
         variant != v1::SSI_VARIANT_FULL_NO_IDENTITY;
}

bool PairsSameRank(const v1::SsiSpec& ssi) {
  return ssi.correlated_pairing() == v1::CORRELATED_PAIRING_SAME_RANK;
}

std::int64_t NumSsiRows(const v1::SsiSpec& ssi, std::int64_t num_words) {
  if (!HasSsiVectors(ssi.variant())) return 0;
  if (ssi.num_dense_words() > 0) return ssi.num_dense_words();
  if (ssi.num_frequent_words() > 0) {
    // Each part has rows of its own.
    return std::int64_t{ssi.num_frequent_words()} * (ssi.mixes_parts() ? 2 : 1);
  }
  // Words come before bigrams, and both lists begin with the most frequent.
  // Hashed unknown words come last and have no rows.
  return num_words - ssi.unknown_word_buckets();
}

std::int64_t NumCorrelatedWords(const v1::SsiSpec& ssi,
                                std::int64_t num_words) {
  if (ssi.correlated_top_k() == 0) return 0;
  // Eq. 6 maps frequent words too.
  return PairsSameRank(ssi) ? num_words : num_words - ssi.num_frequent_words();
}

std::int64_t NumSsiBlocks(const v1::SsiSpec& ssi) {
  // SSI eq. 7 pairs the p-th words of both sides alone, so each p has a block.
  // The part of the frequent words is another block (MATHEMATICS.md, SSI).
  return (ssi.mixes_parts() ? 1 : 0) +
         (PairsSameRank(ssi) ? ssi.correlated_top_k() : 1);
}

std::vector<ExpectedTensor> ExpectedTensors(const v1::ModelConfig& config) {
  if (config.tower() == v1::TOWER_KIND_SSI) return ExpectedSsiTensors(config);
  const std::vector<std::int64_t> widths = LayerWidths(config);
  const bool has_int8 = config.weight_encoding() == v1::WEIGHT_ENCODING_INT8;
  std::vector<ExpectedTensor> tensors;
  // They come last, as what follows them may not be aligned for floats.
  std::vector<ExpectedTensor> int8_tensors;
  for (const std::string& prefix : TensorPrefixes(config)) {
    // W_i and b_i (DSSM eq. 3, 4). Layer 0 of a CLSM is W_c (eq. 2).
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
      const std::vector<std::int64_t> shape = {widths[i], widths[i + 1]};
      if (i == 0 && has_int8) {
        tensors.push_back({Int8ScaleName(prefix), {shape[0]}});
        int8_tensors.push_back({Int8WeightName(prefix), shape, true});
      } else {
        tensors.push_back({absl::StrFormat("%s.%d.weight", prefix, i), shape});
      }
      tensors.push_back(
          {absl::StrFormat("%s.%d.bias", prefix, i), {widths[i + 1]}});
    }
  }
  if (config.has_lexical()) {
    tensors.push_back({kLexicalIdfTensor, {config.lexical().num_buckets()}});
  }
  tensors.insert(tensors.end(), int8_tensors.begin(), int8_tensors.end());
  return tensors;
}

std::string Int8WeightName(std::string_view side) {
  return absl::StrCat(ToAbsl(side), ".0.weight");
}

std::string Int8ScaleName(std::string_view side) {
  return absl::StrCat(ToAbsl(side), ".0.scale");
}

}  // namespace semrank
