#include "model/train/run/initial_model.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/base/status_macros.h"
#include "model/cli/exit_code.h"
#include "model/format/manifest.h"
#include "model/format/model_bundle.h"
#include "model/format/model_config.h"
#include "model/format/version_directory.h"
#include "model/train/options/recipes.h"

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

std::string NameOf(bool value) { return value ? "true" : "false"; }

// The flags that the model decides. Dropout belongs to the training, and the
// lexical part is fitted anew.
std::string SettingsOf(const v1::ModelConfig& config) {
  const v1::FeatureSpec& features = config.features();
  std::string settings = absl::StrCat(
      "tower=", NameOf(config.tower(), kTowerNames),
      " shared_towers=", NameOf(config.shared_towers()),
      " hidden=", absl::StrJoin(config.hidden_dims(), ","),
      " activation=", NameOf(config.activation(), kActivationNames),
      " window=", config.clsm_window(),
      // The file has biases in any case, which are 0 without.
      " biases=", NameOf(!config.training().without_biases()),
      " features=", NameOf(features.kind(), kFeatureNames),
      " hash_buckets=", features.hash_buckets());
  const auto append_positive = [&](const char* flag, std::int64_t value) {
    if (value > 0) absl::StrAppend(&settings, " ", flag, "=", value);
  };
  // Variants of SSI without vectors have 0, which no flag can.
  append_positive("embedding_dim", config.embedding_dim());
  append_positive("ngram_length", features.ngram_length());
  // num_words counts the buckets of unknown words, the flag does not.
  append_positive("max_words", std::int64_t{features.num_words()} -
                                   config.ssi().unknown_word_buckets());
  append_positive("max_bigrams", features.num_bigrams());
  if (config.tower() != v1::TOWER_KIND_SSI) return settings;
  const v1::SsiSpec& ssi = config.ssi();
  absl::StrAppend(
      &settings, " ssi=", NameOf(ssi.variant(), kSsiVariantNames),
      " ssi_dense_words=", ssi.num_dense_words(),
      " ssi_pair_hash_buckets=", ssi.pair_hash_buckets(),
      " ssi_frequent_words=", ssi.num_frequent_words(),
      " ssi_correlated_top_k=", ssi.correlated_top_k(),
      " ssi_correlated_pairing=", PairsSameRank(ssi) ? "same_rank" : "all",
      " ssi_mix_parts=", NameOf(ssi.mixes_parts()),
      " ssi_unknown_word_buckets=", ssi.unknown_word_buckets());
  // The file does not have it: U and V begin as the model's. The value is that
  // of a run without the flag, because a checkpoint compares it.
  absl::StrAppend(&settings, " ssi_init_scale=", SsiOptions().init_scale);
  return settings;
}

// Whether a run whose flag was given as `given` can begin from a model that has
// `value`.
bool Agrees(std::string_view flag, const std::string& given,
            const std::string& value) {
  if (flag == "biases" || given == value) return true;
  if (flag != "max_words" && flag != "max_bigrams") return false;
  // A larger limit, or none, is met in any case: the vocabulary is the model's.
  int limit = 0, size = 0;
  return absl::SimpleAtoi(given, &limit) && absl::SimpleAtoi(value, &size) &&
         (limit == 0 || limit >= size);
}

}  // namespace

absl::StatusOr<v1::ModelConfig> LoadInitialModel(const std::string& path,
                                                 TrainOptions& options) {
  const Place place = PlaceOf(path);
  SEMRANK_ASSIGN_OR_RETURN(const std::shared_ptr<const TwoTowerModel> model,
                           LoadModel(place.model_dir, place.version));
  options.features.given =
      std::make_shared<const Featurizer>(model->featurizer());
  options.initial_model = {
      .version_dir = VersionPath(place.model_dir, model->version().version),
      .weights_sha256 = model->version().weights_sha256};
  return model->config();
}

absl::Status SetModelFlags(const v1::ModelConfig& config,
                           CommandLine& command_line) {
  const std::string settings = SettingsOf(config);
  std::map<std::string, std::string> given;
  for (const FlagValue& flag : command_line.Values()) {
    if (command_line.IsSet(flag.name)) given[flag.name] = flag.value;
  }
  for (const auto& [flag, value] : SplitSettings(settings)) {
    const auto found = given.find(flag);
    if (found == given.end() || Agrees(flag, found->second, value)) continue;
    return FlagError(
        flag, found->second,
        flag == "ssi_init_scale"
            ? "U and V begin as those of --init_from"
            : absl::StrCat("the model of --init_from has ", value));
  }
  return ApplySettings(settings, "--init_from", command_line);
}

}  // namespace semrank
