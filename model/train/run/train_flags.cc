#include "model/train/run/train_flags.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "model/base/status_macros.h"
#include "model/cli/exit_code.h"
#include "model/data/input_lines.h"
#include "model/format/manifest.h"
#include "model/format/model_bundle.h"
#include "model/format/version_directory.h"
#include "model/train/options/option_flags.h"
#include "model/train/options/recipes.h"
#include "model/train/options/resolve_options.h"
#include "model/train/options/unused_flags.h"
#include "model/train/run/general_start.h"

namespace semrank {
namespace {

// A published model that training begins from (--init_from) determines the
// shape of the towers (or of SSI's W), the initial weights (make_trainer.h)
// and the vocabulary, which grows by that of the run's texts. SSI takes words,
// idf and correlated words from the model as they are, because with others its
// weights would mean something else.

struct Place {
  std::string model_dir;
  std::int64_t version = 0;  // 0 = the highest
};

Place PlaceOf(const std::string& path) {
  std::filesystem::path folder(path);
  if (!folder.has_filename()) folder = folder.parent_path();
  const auto version = ParseVersionName(folder.filename().string());
  std::error_code error;
  // A model may have a number for its name; only a version has a manifest.
  if (!version || !std::filesystem::exists(folder / kManifestFile, error)) {
    return {.model_dir = path, .version = 0};
  }
  const std::filesystem::path parent = folder.parent_path();
  return {.model_dir = parent.empty() ? "." : parent.string(),
          .version = *version};
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

// --judge_fraction of the run that made the model.
double JudgeFractionOf(const v1::TrainingFacts& facts) {
  for (absl::string_view option : facts.options()) {
    double fraction = 0;
    if (absl::ConsumePrefix(&option, "--judge_fraction=") &&
        absl::SimpleAtod(option, &fraction)) {
      return fraction;
    }
  }
  return 0;
}

// Sets the vocabularies and the initial weights of `options`. `path` is a model
// directory (its highest version) or one of its versions. Fails as LoadModel.
absl::StatusOr<v1::ModelConfig> LoadInitialModel(const std::string& path,
                                                 TrainOptions& options) {
  const Place place = PlaceOf(path);
  SEMRANK_ASSIGN_OR_RETURN(const std::shared_ptr<const TwoTowerModel> model,
                           LoadModel(place.model_dir, place.version));
  options.features.given =
      std::make_shared<const Featurizer>(model->featurizer());
  options.features.grows_given = model->config().tower() != v1::TOWER_KIND_SSI;
  options.data.normalizer_version = model->normalizer_version();
  options.initial_model = {
      .version_dir = VersionPath(place.model_dir, model->version().version),
      .weights_sha256 = model->version().weights_sha256,
      .is_general = model->config().training().general_start(),
      .has_lexical = model->config().has_lexical(),
      .judge_fraction = JudgeFractionOf(model->config().training())};
  if (!options.initial_model.is_general || model->config().has_lexical()) {
    options.served_version_dir = options.initial_model.version_dir;
  }
  return model->config();
}

// Whether the model was made of a catalogue alone, without towers.
bool HasLearnedNothing(const v1::ModelConfig& config) {
  return config.training().num_pairs() == 0 &&
         !config.training().general_start() && config.has_lexical();
}

// A model without towers gives a run nothing to begin from.
void BeginFromRandomWeights(TrainOptions& options) {
  absl::FPrintF(stderr,
                "%s has learned from no clicks: training begins from random "
                "weights\n",
                options.served_version_dir);
  options.features.given = nullptr;
  options.features.grows_given = false;
  options.data.normalizer_version = kNormalizerVersion;
  options.initial_model = {};
}

// Sets the flags that the model of `config` decides. FlagError naming the first
// flag that was given and wants another shape than the model's.
absl::Status SetModelFlags(const v1::ModelConfig& config,
                           CommandLine& command_line) {
  // A flag that repeats what the model has is allowed, as in a script that
  // names --tower for each run.
  const std::string settings = ModelSettings(config);
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
  SEMRANK_RETURN_IF_ERROR(ApplySettings(settings, "--init_from", command_line));
  // Rate and epochs of a continued run were measured for towers; a general
  // start is trained like a new model.
  if (config.tower() == v1::TOWER_KIND_SSI ||
      config.training().general_start()) {
    return absl::OkStatus();
  }
  return ApplySettings(ContinueSettings(config), "--init_from", command_line);
}

// The flags that decide the shape of the towers: a run that sets one of them
// does not begin from the general model by itself.
constexpr std::string_view kShapeFlags[] = {
    "preset",       "features",     "tower",         "shared_towers",
    "hidden",       "activation",   "embedding_dim", "ngram_length",
    "hash_buckets", "general_start"};

// The folder of --init_from; "" = random weights.
absl::StatusOr<std::string> StartOf(const CommandLine& command_line,
                                    const TrainFlags& flags) {
  if (flags.init_from == "none") return "";
  if (!flags.init_from.empty()) return FolderOfModel(flags.init_from);
  // A flag for the shape of the model may contradict the general model, so a
  // run with such a flag does not begin from it by default.
  const bool has_own_shape = std::ranges::any_of(
      kShapeFlags,
      [&](std::string_view flag) { return command_line.IsSet(flag); });
  if (has_own_shape) return "";
  return GeneralModelFor(FindInstalledModel(kGeneralModel), flags.options.data);
}

absl::StatusOr<const Recipe*> ChooseRecipe(
    const CommandLine& command_line, const TrainFlags& flags,
    const std::optional<v1::ModelConfig>& model) {
  if (!flags.preset.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(const Recipe* const preset,
                             PresetRecipe(flags.preset));
    if (!model || model->tower() == preset->tower) return preset;
    return FlagError(
        "init_from", flags.init_from,
        absl::StrFormat("is a model of --tower=%s, and --preset trains %s",
                        NameOf(model->tower(), kTowerNames),
                        NameOf(preset->tower, kTowerNames)));
  }
  // The recipe of the model's own tower: SetModelFlags then sets what its shape
  // decides.
  if (model) return &TowerRecipe(model->tower());
  // The default tower has no hidden layers, so --hidden asks for a DSSM.
  if (!command_line.IsSet("tower") && command_line.IsSet("hidden")) {
    return &TowerRecipe(v1::TOWER_KIND_DSSM);
  }
  return &TowerRecipe(flags.options.tower.kind);
}

// Gives the flags that were not given the values of the recipe and the model.
absl::Status ApplyDefaults(CommandLine& command_line, TrainFlags& flags) {
  std::optional<v1::ModelConfig> model;
  SEMRANK_ASSIGN_OR_RETURN(const std::string start,
                           StartOf(command_line, flags));
  if (!start.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(model, LoadInitialModel(start, flags.options));
    if (HasLearnedNothing(*model)) {
      BeginFromRandomWeights(flags.options);
      model.reset();
    }
  }
  SEMRANK_ASSIGN_OR_RETURN(const Recipe* const recipe,
                           ChooseRecipe(command_line, flags, model));
  SEMRANK_RETURN_IF_ERROR(
      ApplySettings(recipe->settings, recipe->chosen_by, command_line));
  if (CorrectsPositions(flags.options.loss)) {
    // Lines of one pair at several positions add up, each by its clicks.
    SEMRANK_RETURN_IF_ERROR(
        command_line.SetDefault("clicks", "weight", "--position_bias"));
  }
  // The preset of another tower may have hidden layers without a convolution.
  const bool is_clsm = flags.options.tower.kind == v1::TOWER_KIND_CLSM;
  if (is_clsm && command_line.IsSet("tower")) {
    for (const auto& [flag, value] :
         SplitSettings(TowerRecipe(v1::TOWER_KIND_CLSM).settings)) {
      if (flag != "hidden") continue;
      SEMRANK_RETURN_IF_ERROR(
          command_line.SetDefault(flag, value, "--tower=clsm"));
    }
  }
  return model ? SetModelFlags(*model, command_line) : absl::OkStatus();
}

// A line of --print_options. `before` is what the value was before the options
// were resolved.
std::string DescribeFlag(const FlagValue& flag, const std::string& before,
                         const TrainOptions& options) {
  const std::string unused = WhatMakesUnused(flag.name, options);
  std::string line =
      absl::StrFormat("%-40s # %s",
                      absl::StrCat(unused.empty() ? "" : "# ", flag.name, " = ",
                                   QuotedForConfig(flag.value)),
                      flag.source);
  if (before != flag.value) {
    absl::StrAppend(&line, " (", QuotedForConfig(before), ")");
  }
  const std::string choice = DescribeChoiceOfData(flag.name, options);
  if (!unused.empty()) {
    absl::StrAppend(&line, ", no effect with --", unused);
  } else if (!choice.empty()) {
    absl::StrAppend(&line, "; the data decide: ", choice);
  }
  return line;
}

}  // namespace

void AddTrainFlags(CommandLine& command_line, TrainFlags& flags) {
  AddTrainOptions(command_line, flags.options);
  command_line.Group("Run");
  command_line.Add("preset", &flags.preset,
                   "Settings of a paper to the letter: dssm2013, clsm2014, "
                   "ssi2009; or of a model that others begin from: general; "
                   "see the recipes below. Flags that are given win "
                   "over it.",
                   "NAME");
  command_line.Add("init_from", &flags.init_from,
                   "Published model to begin from instead of random weights: a "
                   "model directory, one of its versions, or the name of an "
                   "installed model; none = random weights. Without it a log "
                   "of few English pairs begins from the model `general`, if "
                   "that is installed. The model determines the "
                   "features and the shape of the towers (of SSI: words, idf "
                   "and the shape of W); flags that contradict it are refused. "
                   "Its vocabulary grows by that of the new pairs, its lexical "
                   "weight stays, and the run has fewer epochs and a lower "
                   "rate.",
                   "DIR|NAME");
  command_line.Add("print_options", &flags.prints_options,
                   "Prints every flag with the value that this run would use "
                   "and where it comes from, in the form of --config, and "
                   "exits.");
  command_line.Add("output", &flags.prints_json,
                   "Format of the result: table, or json (one object).",
                   {{"table", false}, {"json", true}});
}

absl::Status ResolveFlags(CommandLine& command_line, TrainFlags& flags) {
  SEMRANK_RETURN_IF_ERROR(ApplyDefaults(command_line, flags));
  SEMRANK_RETURN_IF_ERROR(CheckFilesAreNamed(flags.options.data));
  return ResolveOptions(flags.options);
}

absl::StatusOr<std::string> DescribeOptions(CommandLine& command_line,
                                            TrainFlags& flags) {
  SEMRANK_RETURN_IF_ERROR(ApplyDefaults(command_line, flags));
  const std::vector<FlagValue> given = command_line.Values();
  SEMRANK_RETURN_IF_ERROR(ResolveOptions(flags.options));
  const std::vector<FlagValue> used = command_line.Values();
  std::string text =
      "# flag = value, # where it comes from (and what the value stands for)\n";
  for (std::size_t i = 0; i < used.size(); ++i) {
    // A file that had it would only print.
    if (used[i].name == "print_options") continue;
    absl::StrAppend(&text, DescribeFlag(used[i], given[i].value, flags.options),
                    "\n");
  }
  return text;
}

}  // namespace semrank
