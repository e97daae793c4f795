#include "model/train/presets.h"

#include "model/base/program.h"

namespace semrank {

absl::StatusOr<TrainOptions> PresetOptions(std::string_view name) {
  if (name == "clsm2014" || name == "ssi2009") {
    return FlagError("preset", name,
                     "not available yet; this version has dssm2013");
  }
  if (name != "dssm2013") {
    return FlagError("preset", name, "not known; there is dssm2013");
  }
  TrainOptions options;
  options.tower = {.kind = v1::TOWER_KIND_DSSM,
                   .shared = true,
                   .hidden_dims = {300, 300},
                   .embedding_dim = 128};
  options.loss = {
      .sampling = v1::NEGATIVE_SAMPLING_UNIFORM, .negatives = 4, .gamma = 10};
  options.optimizer = {.kind = v1::OPTIMIZER_SGD, .learning_rate = 0.5};
  options.batch_size = 1024;
  options.epochs = 20;
  options.patience = 0;
  return options;
}

}  // namespace semrank
