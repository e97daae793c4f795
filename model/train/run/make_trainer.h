// The trainer of a run at its initial weights: random ones, or what the run
// takes from the model of --init_from.
//
//   Continued  a model of this or an older run: its rows are kept as they are,
//              and features that it does not have keep their random rows.
//   General    a model that was made to begin others from: its rows, scaled so
//              that they give a title of the run a vector of mean length 2, are
//              added to the random rows.
//   Lexical    idf is counted over the titles of the run, among them those of
//              the pairs that the model has kept. A model that has kept none
//              passes its idf on: the new titles alone are too few.
//   Errors     DataLoss when the file of weights does not fit the model.
#ifndef SEMRANK_MODEL_TRAIN_RUN_MAKE_TRAINER_H_
#define SEMRANK_MODEL_TRAIN_RUN_MAKE_TRAINER_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/train/data/training_data.h"
#include "model/train/distributed/communicator.h"
#include "model/train/options/train_options.h"
#include "model/train/towers/model_trainer.h"

namespace semrank {

// The trainer of options.tower.kind, at random weights or at those of
// options.initial_model; optimizers begin anew. The arguments outlive it. All
// processes fail together.
absl::StatusOr<std::unique_ptr<ModelTrainer>> MakeTrainer(
    const TrainOptions& options, const TrainingData& data,
    const Workers& workers);

// Replaces data.lexical_idf by that of the initial model, where it passes its
// idf on.
absl::Status KeepIdfOfStart(const TrainOptions& options, TrainingData& data);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_MAKE_TRAINER_H_
