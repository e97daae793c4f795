#include "model/train/train_flags.h"

#include "model/base/status_macros.h"
#include "model/train/options/presets.h"
#include "model/train/run/initial_model.h"

namespace semrank {

// The defaults that --help shows.
TrainFlags::TrainFlags() : options(DefaultOptions(v1::TOWER_KIND_LINEAR)) {}

void AddTrainFlags(CommandLine& command_line, TrainFlags& flags) {
  AddTrainOptions(command_line, flags.options);
  command_line.Group("Run");
  command_line.Add("preset", &flags.preset,
                   "Settings of a paper to the letter: dssm2013, clsm2014, "
                   "ssi2009. Flags that are given win over it.");
  command_line.Add("init_from", &flags.init_from,
                   "Published model to begin from instead of random weights: a "
                   "model directory, or one of its versions. It determines the "
                   "vocabulary, the features and the shape of the towers (of "
                   "SSI: idf and the shape of W); flags that contradict it are "
                   "refused.");
  command_line.Add("output", &flags.prints_json,
                   "Format of the result: table, or json (one object).",
                   {{"table", false}, {"json", true}});
}

absl::Status ChooseDefaults(CommandLine& command_line, TrainFlags& flags) {
  TrainOptions& options = flags.options;
  const v1::TowerKind given = options.tower.kind;
  // Defaults depend on flags (tower, preset, model to begin from), so the
  // command line is read twice: once to learn these, and after the defaults are
  // chosen once more, so that what was given wins over them.
  const bool is_tower_given = command_line.IsSet("tower");
  const bool has_preset = !flags.preset.empty();
  if (has_preset) {
    SEMRANK_ASSIGN_OR_RETURN(options, PresetOptions(flags.preset));
    // The default tower has no hidden layers, so --hidden asks for a DSSM.
  } else if (!is_tower_given && command_line.IsSet("hidden")) {
    options = DefaultOptions(v1::TOWER_KIND_DSSM);
  } else {
    options = DefaultOptions(given);
  }
  // Also over a preset: 300 is the width of a convolution, while DSSM's hidden
  // layers are two.
  if (is_tower_given && given == v1::TOWER_KIND_CLSM) {
    options.tower.hidden_dims = {kDefaultConvolutionDim};
  }
  if (!flags.init_from.empty()) {
    SEMRANK_RETURN_IF_ERROR(
        TakeInitialModel(flags.init_from, has_preset, options));
  }
  const TrainOptions defaults = options;
  SEMRANK_RETURN_IF_ERROR(command_line.Apply());
  return CheckInitialModel(defaults, options);
}

}  // namespace semrank
