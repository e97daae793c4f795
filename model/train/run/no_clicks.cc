#include "model/train/run/no_clicks.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/format/model_bundle.h"
#include "model/format/model_config.h"
#include "model/format/version_directory.h"
#include "model/format/version_reader.h"
#include "model/train/data/catalogue.h"
#include "model/train/data/training_features.h"
#include "model/train/run/general_start.h"
#include "model/train/validation/trained_model.h"

namespace semrank {
namespace {

// Such a model has towers that were made elsewhere, or none, and idf of the
// catalogue: no training takes place, so there is no log, no checkpoint and
// no report.

// What the model consists of, but for idf.
struct Towers {
  v1::ModelConfig config;
  std::unique_ptr<const Featurizer> featurizer;
  OwnedTensors weights;
};

absl::StatusOr<Towers> GeneralTowers(const TwoTowerModel& general,
                                     const std::string& folder) {
  Towers towers;
  towers.config = general.config();
  towers.featurizer = std::make_unique<const Featurizer>(general.featurizer());
  SEMRANK_ASSIGN_OR_RETURN(
      towers.weights,
      ReadWeights(VersionPath(folder, general.version().version)));
  v1::TrainingFacts& facts = *towers.config.mutable_training();
  facts.set_init_weights_sha256(general.version().weights_sha256);
  return towers;
}

// Towers that give every text the zero vector: the format has no model without
// towers.
absl::StatusOr<Towers> EmptyTowers(TrainOptions options,
                                   const TextInterner& titles,
                                   const std::vector<TextId>& ids) {
  options.features.kind = v1::FEATURE_KIND_LETTERS;
  options.tower.kind = v1::TOWER_KIND_LINEAR;
  // The smallest tower that the format allows.
  options.tower.embedding_dim = 1;
  options.tower.hidden_dims.clear();
  options.tower.activation = v1::ACTIVATION_IDENTITY;
  Towers towers;
  SEMRANK_ASSIGN_OR_RETURN(
      Featurizer featurizer,
      ChooseFeatures(options.features, titles, ids, {}, /*num_paddings=*/0));
  towers.featurizer = std::make_unique<const Featurizer>(std::move(featurizer));
  options.tower.shared = true;
  towers.config = DescribeModel(options, *towers.featurizer);
  // One list of zeros serves all tensors: the layer of N x 1 weights is
  // the largest.
  const auto zeros =
      std::make_shared<std::vector<float>>(towers.featurizer->num_features());
  towers.weights.storage = zeros;
  for (const ExpectedTensor& tensor : ExpectedTensors(towers.config)) {
    towers.weights.tensors[tensor.name] = {
        .name = tensor.name, .shape = tensor.shape, .data = zeros->data()};
  }
  return towers;
}

// The share of the words of the titles that the general model lists.
double ShareOfKnownWords(const Featurizer& general,
                         const TextInterner& titles) {
  StartLanguage language(general, {});
  for (std::size_t id = 0; id < titles.size(); ++id) {
    language.Add(titles.text(static_cast<TextId>(id)));
  }
  return language.share().OfWords();
}

void Describe(const std::string& general_dir, const CatalogueModel& model) {
  if (model.has_general) {
    absl::FPrintF(stderr,
                  "%d titles; the general model %s knows %.0f %% of their "
                  "words: the score is %.0f %% letter trigrams, the rest is "
                  "the general model's\n",
                  model.num_titles, general_dir, 100 * model.known_words,
                  100 * kLexicalWeightWithoutClicks);
  } else if (general_dir.empty()) {
    absl::FPrintF(stderr,
                  "%d titles, without the general model (package "
                  "semrank-model-en): letter trigrams alone are the score\n",
                  model.num_titles);
  } else {
    absl::FPrintF(stderr,
                  "%d titles; the general model %s knows %.0f %% of their "
                  "words, so they are not English: letter trigrams alone are "
                  "the score\n",
                  model.num_titles, general_dir, 100 * model.known_words);
  }
}

// As near to 1 as the format allows.
constexpr double kLexicalAlone = 1 - 0x1p-20;

absl::StatusOr<std::int64_t> Publish(const TrainOptions& options,
                                     const std::vector<float>& idf,
                                     double weight, Towers towers) {
  v1::ModelConfig config = WithLexicalWeight(std::move(towers.config), weight);
  config.set_name(ModelNameOf(options.data.model_dir));
  std::vector<TensorView> tensors;
  for (const auto& [name, tensor] : towers.weights.tensors) {
    tensors.push_back(tensor);
  }
  tensors.push_back({kLexicalIdfTensor, {std::ssize(idf)}, idf.data()});
  return PublishModel(options.data.model_dir,
                      {.config = std::move(config),
                       .featurizer = towers.featurizer.get(),
                       .tensors = std::move(tensors)});
}

}  // namespace

absl::StatusOr<CatalogueModel> PublishWithoutClicks(
    const TrainOptions& options, const std::string& general_dir) {
  BadLines bad_lines(options.data.max_bad_lines);
  TextInterner titles;
  SEMRANK_ASSIGN_OR_RETURN(const std::vector<TextId> ids,
                           ReadCatalogue(options.data, bad_lines, titles));
  CatalogueModel model = {.version_dir = "", .num_titles = std::ssize(titles)};
  std::shared_ptr<const TwoTowerModel> general;
  if (!general_dir.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(general, LoadModel(general_dir));
    model.known_words = ShareOfKnownWords(general->featurizer(), titles);
    model.has_general = model.known_words >= kMinWordsOfLanguage;
  }
  Describe(general_dir, model);
  SEMRANK_ASSIGN_OR_RETURN(
      Towers towers, model.has_general ? GeneralTowers(*general, general_dir)
                                       : EmptyTowers(options, titles, ids));
  FeatureOptions features;  // with a lexical part
  SEMRANK_ASSIGN_OR_RETURN(
      model.version,
      Publish(options, LexicalIdfOf(features, titles, ids),
              model.has_general ? kLexicalWeightWithoutClicks : kLexicalAlone,
              std::move(towers)));
  model.version_dir = VersionPath(options.data.model_dir, model.version);
  return model;
}

std::string FormatCatalogueJson(const CatalogueModel& model) {
  const nlohmann::ordered_json json = {{"version_dir", model.version_dir},
                                       {"version", model.version},
                                       {"titles", model.num_titles},
                                       {"has_general", model.has_general},
                                       {"known_words", model.known_words}};
  // Names of folders need not be UTF-8, for which dump would throw.
  return json.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/false,
                   nlohmann::json::error_handler_t::replace) +
         "\n";
}

}  // namespace semrank
