#include "model/train/run/initial_model.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
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

absl::Status CheckSame(std::string_view flag, const absl::AlphaNum& model,
                       const absl::AlphaNum& wanted) {
  if (model.Piece() == wanted.Piece()) return absl::OkStatus();
  return FlagError(
      flag, ToStd(wanted.Piece()),
      absl::StrCat("the model of --init_from has ", model.Piece()));
}

std::string NameOf(bool value) { return value ? "true" : "false"; }

// This and the next two functions return the first difference.
absl::Status CheckTower(const TowerOptions& model, const TowerOptions& wanted,
                        bool has_vectors) {
  absl::Status status = CheckSame("tower", NameOf(model.kind, kTowerNames),
                                  NameOf(wanted.kind, kTowerNames));
  status.Update(
      CheckSame("shared_towers", NameOf(model.shared), NameOf(wanted.shared)));
  status.Update(CheckSame("hidden", absl::StrJoin(model.hidden_dims, ","),
                          absl::StrJoin(wanted.hidden_dims, ",")));
  if (has_vectors) {  // else --embedding_dim has no effect
    status.Update(
        CheckSame("embedding_dim", model.embedding_dim, wanted.embedding_dim));
  }
  status.Update(CheckSame("activation",
                          NameOf(model.activation, kActivationNames),
                          NameOf(wanted.activation, kActivationNames)));
  status.Update(CheckSame("window", model.clsm_window, wanted.clsm_window));
  return status;
}

absl::Status CheckFeatures(const FeatureOptions& model,
                           const FeatureOptions& wanted) {
  absl::Status status = CheckSame("features", NameOf(model.kind, kFeatureNames),
                                  NameOf(wanted.kind, kFeatureNames));
  status.Update(
      CheckSame("ngram_length", model.ngram_length, wanted.ngram_length));
  status.Update(
      CheckSame("hash_buckets", model.hash_buckets, wanted.hash_buckets));
  // A larger limit is met in any case: the vocabulary is the model's.
  if (wanted.max_words > 0 && wanted.max_words < model.max_words) {
    status.Update(CheckSame("max_words", model.max_words, wanted.max_words));
  }
  if (wanted.max_bigrams > 0 && wanted.max_bigrams < model.max_bigrams) {
    status.Update(
        CheckSame("max_bigrams", model.max_bigrams, wanted.max_bigrams));
  }
  return status;
}

absl::Status CheckSsi(const SsiOptions& model, const SsiOptions& wanted) {
  absl::Status status =
      CheckSame("ssi", NameOf(model.variant, kSsiVariantNames),
                NameOf(wanted.variant, kSsiVariantNames));
  status.Update(
      CheckSame("ssi_dense_words", model.dense_words, wanted.dense_words));
  status.Update(CheckSame("ssi_pair_hash_buckets", model.pair_hash_buckets,
                          wanted.pair_hash_buckets));
  status.Update(CheckSame("ssi_frequent_words", model.frequent_words,
                          wanted.frequent_words));
  status.Update(CheckSame("ssi_correlated_top_k", model.correlated_top_k,
                          wanted.correlated_top_k));
  status.Update(
      CheckSame("ssi_correlated_pairing",
                NameOf(model.correlated_pairing, kCorrelatedPairingNames),
                NameOf(wanted.correlated_pairing, kCorrelatedPairingNames)));
  status.Update(CheckSame("ssi_mix_parts", NameOf(model.mix_parts),
                          NameOf(wanted.mix_parts)));
  status.Update(CheckSame("ssi_unknown_word_buckets",
                          model.unknown_word_buckets,
                          wanted.unknown_word_buckets));
  if (model.init_scale != wanted.init_scale) {
    status.Update(FlagError("ssi_init_scale", wanted.init_scale,
                            "U and V begin as those of --init_from"));
  }
  return status;
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
  const bool has_vectors = taken.tower.kind != v1::TOWER_KIND_SSI ||
                           HasSsiVectors(taken.ssi.variant);
  SEMRANK_RETURN_IF_ERROR(CheckTower(taken.tower, options.tower, has_vectors));
  SEMRANK_RETURN_IF_ERROR(CheckFeatures(taken.features, options.features));
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
    const std::span<const float> values = tensor.values();
    const auto found = state.find(name);
    if (found == state.end() || found->second.size() != values.size()) {
      return absl::DataLossError(absl::StrFormat(
          "%s: tensor \"%s\" has no place in the model that is trained", path,
          name));
    }
    std::ranges::copy(values, found->second.begin());
  }
  // The weights are those of the model; the optimizer starts anew.
  trainer.Restored(/*num_steps=*/0);
  return absl::OkStatus();
}

}  // namespace semrank
