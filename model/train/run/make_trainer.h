// The trainer of a run at its initial weights.
#ifndef SEMRANK_MODEL_TRAIN_RUN_MAKE_TRAINER_H_
#define SEMRANK_MODEL_TRAIN_RUN_MAKE_TRAINER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "model/train/data/training_data.h"
#include "model/train/distributed/communicator.h"
#include "model/train/options/train_options.h"
#include "model/train/towers/model_trainer.h"

namespace semrank {

// The trainer of options.tower.kind, at random weights or at those of
// options.initial_model; optimizers begin anew. The arguments outlive it.
// DataLoss when the file of weights does not fit the model; all processes fail
// together.
absl::StatusOr<std::unique_ptr<ModelTrainer>> MakeTrainer(
    const TrainOptions& options, const TrainingData& data,
    const Workers& workers);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_MAKE_TRAINER_H_
