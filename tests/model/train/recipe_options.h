// Options of training runs for tests.
#ifndef SEMRANK_TESTS_MODEL_TRAIN_RECIPE_OPTIONS_H_
#define SEMRANK_TESTS_MODEL_TRAIN_RECIPE_OPTIONS_H_

#include <gtest/gtest.h>

#include <string_view>

#include "model/cli/command_line.h"
#include "model/train/options/option_flags.h"
#include "model/train/options/recipes.h"
#include "model/train/options/train_options.h"
#include "tests/support/status_matchers.h"

namespace semrank {

inline TrainOptions RecipeOptions(const Recipe& recipe) {
  TrainOptions options;
  CommandLine command_line({.name = "semrank-train"});
  AddTrainOptions(command_line, options);
  EXPECT_THAT(ApplySettings(recipe.settings, recipe.chosen_by, command_line),
              IsOk());
  return options;
}

// What --tower alone chooses.
inline TrainOptions DefaultOptions(v1::TowerKind tower) {
  return RecipeOptions(TowerRecipe(tower));
}

// What --preset alone chooses.
inline TrainOptions PresetOptions(std::string_view name) {
  const auto recipe = PresetRecipe(name);
  EXPECT_THAT(recipe, IsOk());
  return recipe.ok() ? RecipeOptions(**recipe) : TrainOptions();
}

// A DSSM of letters alone, without what changes from step to step or depends on
// the data: what a test of one setting begins from.
inline TrainOptions PlainOptions() {
  TrainOptions options = DefaultOptions(v1::TOWER_KIND_DSSM);
  options.features.kind = v1::FEATURE_KIND_LETTERS;
  options.features.lexical = "none";
  options.features.lexical_weight = 0;
  options.optimizer.decay = v1::LEARNING_RATE_DECAY_NONE;
  options.epochs = 20;
  options.patience = 3;
  return options;
}

}  // namespace semrank

#endif  // SEMRANK_TESTS_MODEL_TRAIN_RECIPE_OPTIONS_H_
