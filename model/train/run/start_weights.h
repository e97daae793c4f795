// The weights that a run takes from the model of --init_from.
//
//   Continued  a model of this or an older run: its rows are kept as they are,
//              and features that it does not have keep their random rows.
//   General    a model that was made to begin others from: its rows, scaled so
//              that they give a title of the run a vector of mean length
//              kGeneralLength, are added to the random rows.
//   Lexical    idf is counted over the titles of the run, among them those of
//              the pairs that the model has kept. A model that has kept none
//              passes its idf on: the new titles alone are too few.
#ifndef SEMRANK_MODEL_TRAIN_RUN_START_WEIGHTS_H_
#define SEMRANK_MODEL_TRAIN_RUN_START_WEIGHTS_H_

#include "absl/status/status.h"
#include "model/train/data/training_data.h"
#include "model/train/options/train_options.h"
#include "model/train/towers/model_trainer.h"

namespace semrank {

// .5 to 8 give nearly the same NDCG@10; random rows give vectors of length .1.
inline constexpr double kGeneralLength = 2;

// Copies the weights of options.initial_model, which may be none, into the
// trainer, which has its random weights. DataLoss when the file of weights does
// not fit the model.
absl::Status CopyStartWeights(const TrainOptions& options,
                              const TrainingData& data, ModelTrainer& trainer);

// Replaces data.lexical_idf by that of the initial model, where it passes its
// idf on. Fails as CopyStartWeights.
absl::Status KeepIdfOfStart(const TrainOptions& options, TrainingData& data);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_START_WEIGHTS_H_
