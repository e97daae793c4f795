#include "model/train/run/make_trainer.h"

#include "model/base/status_macros.h"
#include "model/train/run/start_weights.h"
#include "model/train/ssi/ssi_trainer.h"
#include "model/train/ssi/ssi_weights.h"
#include "model/train/towers/two_tower_trainer.h"

namespace semrank {
namespace {

std::unique_ptr<ModelTrainer> MakeAtRandomWeights(const TrainOptions& options,
                                                  const TrainingData& data,
                                                  const Workers& workers) {
  if (options.tower.kind == v1::TOWER_KIND_SSI) {
    return std::make_unique<SsiTrainer>(InitialSsiWeights(options, data),
                                        options, workers);
  }
  return std::make_unique<TwoTowerTrainer>(
      InitialTwoTowerWeights(options.tower, data.featurizer.num_features(),
                             options.seed),
      options, workers);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ModelTrainer>> MakeTrainer(
    const TrainOptions& options, const TrainingData& data,
    const Workers& workers) {
  // Random weights first: a start overwrites the rows that it has, or is added
  // to them.
  std::unique_ptr<ModelTrainer> trainer =
      MakeAtRandomWeights(options, data, workers);
  SEMRANK_RETURN_IF_ERROR(
      workers.processes.Agree(CopyStartWeights(options, data, *trainer)));
  return trainer;
}

}  // namespace semrank
