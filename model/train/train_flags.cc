#include "model/train/train_flags.h"

#include <cstddef>
#include <optional>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/cli/exit_code.h"
#include "model/train/options/option_flags.h"
#include "model/train/options/recipes.h"
#include "model/train/options/resolve_options.h"
#include "model/train/run/initial_model.h"

namespace semrank {
namespace {

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
  if (!flags.init_from.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(model,
                             LoadInitialModel(flags.init_from, flags.options));
  }
  SEMRANK_ASSIGN_OR_RETURN(const Recipe* const recipe,
                           ChooseRecipe(command_line, flags, model));
  SEMRANK_RETURN_IF_ERROR(
      ApplySettings(recipe->settings, recipe->chosen_by, command_line));
  // The preset of another tower may have hidden layers that are no convolution.
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

// A value as --config reads it.
std::string Quoted(const std::string& value) {
  const bool is_plain =
      !value.empty() && value.find_first_of(" ,#\"'[") == std::string::npos;
  return is_plain ? value : absl::StrCat("\"", value, "\"");
}

}  // namespace

void AddTrainFlags(CommandLine& command_line, TrainFlags& flags) {
  AddTrainOptions(command_line, flags.options);
  command_line.Group("Run");
  command_line.Add("preset", &flags.preset,
                   "Settings of a paper to the letter: dssm2013, clsm2014, "
                   "ssi2009; see the recipes below. Flags that are given win "
                   "over it.");
  command_line.Add("init_from", &flags.init_from,
                   "Published model to begin from instead of random weights: a "
                   "model directory, or one of its versions. It determines the "
                   "vocabulary, the features and the shape of the towers (of "
                   "SSI: idf and the shape of W); flags that contradict it are "
                   "refused.");
  command_line.Add("print_options", &flags.prints_options,
                   "Prints every flag with the value that this run would use "
                   "and where it comes from, in the form of --config, and "
                   "exits.");
  command_line.Add("output", &flags.prints_json,
                   "Format of the result: table, or json (one object).",
                   {{"table", false}, {"json", true}});
  AddRecipeHelp(command_line);
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
    const FlagValue& flag = used[i];
    // A file that had it would only print.
    if (flag.name == "print_options") continue;
    const std::string unused = WhatMakesUnused(flag.name, flags.options);
    absl::StrAppendFormat(&text, "%-40s # %s",
                          absl::StrCat(unused.empty() ? "" : "# ", flag.name,
                                       " = ", Quoted(flag.value)),
                          flag.source);
    if (given[i].value != flag.value) {
      absl::StrAppendFormat(&text, " (%s)", Quoted(given[i].value));
    }
    if (!unused.empty()) {
      absl::StrAppendFormat(&text, ", no effect with --%s", unused);
    }
    text += '\n';
  }
  return text;
}

std::vector<std::string> DescribeUnusedFlags(
    const TrainOptions& options, const std::vector<FlagValue>& flags) {
  std::vector<std::string> lines;
  for (const FlagValue& flag : flags) {
    const std::string reason = WhatMakesUnused(flag.name, options);
    if (reason.empty()) continue;
    lines.push_back(absl::StrCat("--", flag.name, "=", flag.value,
                                 " has no effect with --", reason));
  }
  return lines;
}

}  // namespace semrank
