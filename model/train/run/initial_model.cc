#include "model/train/run/initial_model.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"
#include "model/cli/exit_code.h"
#include "model/format/manifest.h"
#include "model/format/model_bundle.h"
#include "model/format/model_config.h"
#include "model/format/safetensors.h"
#include "model/format/version_directory.h"
#include "model/train/options/option_names.h"
#include "model/train/options/presets.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {
namespace {

struct Place {
  std::string model_dir;
  std::int64_t version = 0;  // 0 = the highest
};

Place PlaceOf(const std::string& path) {
  std::filesystem::path folder(path);
  if (!folder.has_filename()) folder = folder.parent_path();
  const auto version = ParseVersionName(folder.filename().string());
  // A model may have a number for its name; only a version has a manifest.
  if (!version || !std::filesystem::exists(folder / kManifestFile)) {
    return {.model_dir = path, .version = 0};
  }
  const std::filesystem::path parent = folder.parent_path();
  return {.model_dir = parent.empty() ? "." : parent.string(),
          .version = *version};
}

TowerOptions TowerOf(const v1::ModelConfig& config) {
  return {
      .kind = config.tower(),
      .shared = config.shared_towers(),
      .hidden_dims = {config.hidden_dims().begin(), config.hidden_dims().end()},
      .embedding_dim = static_cast<int>(config.embedding_dim()),
      .activation = config.activation(),
      .clsm_window = static_cast<int>(config.clsm_window()),
      // The file has biases in any case, which are 0 without.
      .biases = !config.training().without_biases()};
}

FeatureOptions FeaturesOf(const v1::FeatureSpec& spec) {
  FeatureOptions options;
  options.kind = spec.kind();
  if (spec.ngram_length() > 0) {
    options.ngram_length = static_cast<int>(spec.ngram_length());
  }
  options.hash_buckets = static_cast<int>(spec.hash_buckets());
  if (spec.num_words() > 0) {
    options.max_words = static_cast<int>(spec.num_words());
  }
  if (spec.num_bigrams() > 0) {
    options.max_bigrams = static_cast<int>(spec.num_bigrams());
  }
  return options;
}

SsiOptions SsiOf(const v1::SsiSpec& spec) {
  return {
      .variant = spec.variant(),
      .dense_words = static_cast<int>(spec.num_dense_words()),
      .pair_hash_buckets = static_cast<int>(spec.pair_hash_buckets()),
      .frequent_words = static_cast<int>(spec.num_frequent_words()),
      .correlated_top_k = static_cast<int>(spec.correlated_top_k()),
      .correlated_pairing = PairsSameRank(spec)
                                ? v1::CORRELATED_PAIRING_SAME_RANK
                                : v1::CORRELATED_PAIRING_ALL,
      .mix_parts = spec.mixes_parts(),
      .unknown_word_buckets = static_cast<int>(spec.unknown_word_buckets())};
}

absl::Status CheckSame(std::string_view flag, const std::string& model,
                       const std::string& wanted) {
  if (model == wanted) return absl::OkStatus();
  return FlagError(flag, wanted,
                   absl::StrFormat("the model of --init_from has %s", model));
}

absl::Status CheckSame(std::string_view flag, int model, int wanted) {
  return CheckSame(flag, absl::StrFormat("%d", model),
                   absl::StrFormat("%d", wanted));
}

absl::Status CheckSsi(const SsiOptions& model, const SsiOptions& wanted) {
  SEMRANK_RETURN_IF_ERROR(CheckSame("ssi",
                                    NameOf(model.variant, kSsiVariantNames),
                                    NameOf(wanted.variant, kSsiVariantNames)));
  SEMRANK_RETURN_IF_ERROR(
      CheckSame("ssi_dense_words", model.dense_words, wanted.dense_words));
  SEMRANK_RETURN_IF_ERROR(CheckSame("ssi_pair_hash_buckets",
                                    model.pair_hash_buckets,
                                    wanted.pair_hash_buckets));
  SEMRANK_RETURN_IF_ERROR(CheckSame("ssi_frequent_words", model.frequent_words,
                                    wanted.frequent_words));
  SEMRANK_RETURN_IF_ERROR(CheckSame(
      "ssi_correlated_top_k", model.correlated_top_k, wanted.correlated_top_k));
  SEMRANK_RETURN_IF_ERROR(
      CheckSame("ssi_correlated_pairing",
                NameOf(model.correlated_pairing, kCorrelatedPairingNames),
                NameOf(wanted.correlated_pairing, kCorrelatedPairingNames)));
  SEMRANK_RETURN_IF_ERROR(CheckSame("ssi_mix_parts",
                                    model.mix_parts ? "true" : "false",
                                    wanted.mix_parts ? "true" : "false"));
  SEMRANK_RETURN_IF_ERROR(CheckSame("ssi_unknown_word_buckets",
                                    model.unknown_word_buckets,
                                    wanted.unknown_word_buckets));
  if (model.init_scale == wanted.init_scale) return absl::OkStatus();
  return FlagError("ssi_init_scale", absl::StrFormat("%g", wanted.init_scale),
                   "U and V begin as those of --init_from");
}

}  // namespace

absl::Status TakeInitialModel(const std::string& path, bool has_preset,
                              TrainOptions& options) {
  const Place place = PlaceOf(path);
  SEMRANK_ASSIGN_OR_RETURN(const std::shared_ptr<const TwoTowerModel> model,
                           LoadModel(place.model_dir, place.version));
  const v1::ModelConfig& config = model->config();
  if (!has_preset) {
    options = DefaultOptions(config.tower());
  } else if (options.tower.kind != config.tower()) {
    return FlagError(
        "init_from", path,
        absl::StrFormat("is a model of --tower=%s, and --preset trains %s",
                        NameOf(config.tower(), kTowerNames),
                        NameOf(options.tower.kind, kTowerNames)));
  }
  const TowerOptions defaults = options.tower;
  options.tower = TowerOf(config);
  // Dropout belongs to the training, not to the model.
  options.tower.dropout = defaults.dropout;
  if (config.tower() == v1::TOWER_KIND_SSI) {
    options.ssi = SsiOf(config.ssi());
    // Variants without vectors say 0, which no flag can.
    if (config.embedding_dim() == 0) {
      options.tower.embedding_dim = defaults.embedding_dim;
    }
  }
  // The lexical part is fitted anew, for the pairs of this run.
  const std::string lexical = options.features.lexical;
  options.features = FeaturesOf(config.features());
  options.features.lexical = lexical;
  // num_words of the model counts buckets of unknown words, the flag does not.
  options.features.max_words -= options.ssi.unknown_word_buckets;
  options.features.given =
      std::make_shared<const Featurizer>(model->featurizer());
  options.initial_model = {
      .version_dir = VersionPath(place.model_dir, model->version().version),
      .weights_sha256 = model->version().weights_sha256};
  return absl::OkStatus();
}

absl::Status CheckInitialModel(const TrainOptions& taken,
                               const TrainOptions& options) {
  if (taken.features.given == nullptr) return absl::OkStatus();
  const TowerOptions& model = taken.tower;
  const TowerOptions& wanted = options.tower;
  SEMRANK_RETURN_IF_ERROR(CheckSame("tower", NameOf(model.kind, kTowerNames),
                                    NameOf(wanted.kind, kTowerNames)));
  SEMRANK_RETURN_IF_ERROR(CheckSame("shared_towers",
                                    model.shared ? "true" : "false",
                                    wanted.shared ? "true" : "false"));
  SEMRANK_RETURN_IF_ERROR(CheckSame("hidden",
                                    absl::StrJoin(model.hidden_dims, ","),
                                    absl::StrJoin(wanted.hidden_dims, ",")));
  const bool has_vectors =
      model.kind != v1::TOWER_KIND_SSI || HasSsiVectors(taken.ssi.variant);
  if (has_vectors) {
    SEMRANK_RETURN_IF_ERROR(
        CheckSame("embedding_dim", model.embedding_dim, wanted.embedding_dim));
  }
  SEMRANK_RETURN_IF_ERROR(
      CheckSame("activation", NameOf(model.activation, kActivationNames),
                NameOf(wanted.activation, kActivationNames)));
  SEMRANK_RETURN_IF_ERROR(
      CheckSame("window", model.clsm_window, wanted.clsm_window));
  SEMRANK_RETURN_IF_ERROR(
      CheckSame("features", NameOf(taken.features.kind, kFeatureNames),
                NameOf(options.features.kind, kFeatureNames)));
  SEMRANK_RETURN_IF_ERROR(CheckSame("ngram_length", taken.features.ngram_length,
                                    options.features.ngram_length));
  SEMRANK_RETURN_IF_ERROR(CheckSame("hash_buckets", taken.features.hash_buckets,
                                    options.features.hash_buckets));
  const int max_words = options.features.max_words;
  // A larger limit is met in any case: the vocabulary is the model's.
  if (max_words > 0 && max_words < taken.features.max_words) {
    return CheckSame("max_words", taken.features.max_words, max_words);
  }
  const int max_bigrams = options.features.max_bigrams;
  if (max_bigrams > 0 && max_bigrams < taken.features.max_bigrams) {
    return CheckSame("max_bigrams", taken.features.max_bigrams, max_bigrams);
  }
  return CheckSsi(taken.ssi, options.ssi);
}

absl::Status CopyInitialWeights(const InitialModelOptions& options,
                                ModelTrainer& trainer) {
  const std::string path = options.version_dir + "/" + kWeightsFile;
  SEMRANK_ASSIGN_OR_RETURN(const auto file, LoadedFile::Read(path));
  SEMRANK_ASSIGN_OR_RETURN(const auto tensors,
                           ParseSafetensors(file->content(), path));
  // The state has the weights under the names of the file. The optimizer's part
  // has other names, which no file has, and stays 0.
  std::map<std::string, std::span<float>> state;
  for (const StateTensor& tensor : trainer.State()) {
    state.emplace(tensor.name, tensor.values);
  }
  for (const auto& [name, tensor] : tensors) {
    // Counted anew in the titles of this run.
    if (name == kLexicalIdfTensor) continue;
    std::int64_t count = 1;
    for (const std::int64_t size : tensor.shape) count *= size;
    const auto found = state.find(name);
    if (found == state.end() ||
        static_cast<std::int64_t>(found->second.size()) != count) {
      return absl::DataLossError(absl::StrFormat(
          "%s: tensor \"%s\" has no place in the model that is trained", path,
          name));
    }
    std::copy_n(tensor.data, count, found->second.data());
  }
  // The weights are those of the model; the optimizer starts anew.
  trainer.Restored(/*num_steps=*/0);
  return absl::OkStatus();
}

}  // namespace semrank
