#include "model/train/model_trainer.h"

#include "model/train/ssi_trainer.h"
#include "model/train/ssi_weights.h"
#include "model/train/two_tower_trainer.h"

namespace semrank {

std::unique_ptr<ModelTrainer> MakeModelTrainer(const TrainOptions& options,
                                               const TrainingData& data,
                                               ThreadPool& pool,
                                               Communicator& communicator) {
  if (options.tower.kind == v1::TOWER_KIND_SSI) {
    return std::make_unique<SsiTrainer>(InitialSsiWeights(options, data),
                                        options, pool, communicator);
  }
  return std::make_unique<TwoTowerTrainer>(
      InitialTwoTowerWeights(options.tower, data.featurizer.num_features(),
                             options.seed),
      options, pool, communicator);
}

}  // namespace semrank
