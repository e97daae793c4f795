// Settings that go together: the defaults of each tower (--tower), those of a
// paper to the letter (--preset; MATHEMATICS.md says what a paper leaves open),
// and those of a model that a run begins from (--init_from). A recipe lists
// what differs from the defaults of TrainOptions.
#ifndef SEMRANK_MODEL_TRAIN_OPTIONS_RECIPES_H_
#define SEMRANK_MODEL_TRAIN_OPTIONS_RECIPES_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/cli/command_line.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

struct Recipe {
  std::string_view chosen_by;  // "--preset=dssm2013"
  v1::TowerKind tower;
  std::string_view settings;  // "hidden=300,300 gamma=10": flags and values
};

// The defaults of a tower: the best all-round choice.
const Recipe& TowerRecipe(v1::TowerKind tower);

// FlagError for a name that is not known.
absl::StatusOr<const Recipe*> PresetRecipe(std::string_view name);

// The flags that the model of `config` decides for a run that begins from it.
// Dropout belongs to the training. The features of a general start are added to
// those of the run.
std::string ModelSettings(const v1::ModelConfig& config);

// Defaults of a run that continues the model of `config`. The pairs that its
// towers have learned do not show which lexical weight new ones need, so that
// of the model stays.
std::string ContinueSettings(const v1::ModelConfig& config);

// (flag, value) of each of `settings`.
std::vector<std::pair<std::string, std::string>> SplitSettings(
    std::string_view settings);

// Sets those flags of `settings` that were not given, with `source` as the
// source of their values.
absl::Status ApplySettings(std::string_view settings, std::string_view source,
                           CommandLine& command_line);

// Adds all recipes to the help text.
void AddRecipeHelp(CommandLine& command_line);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_OPTIONS_RECIPES_H_
