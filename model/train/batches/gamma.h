// The default of gamma, the factor on the cosine in eq. 6.
//
//   Threads  thread-safe.
#ifndef SEMRANK_MODEL_TRAIN_BATCHES_GAMMA_H_
#define SEMRANK_MODEL_TRAIN_BATCHES_GAMMA_H_

#include "model/train/data/training_data.h"
#include "model/train/options/train_options.h"

namespace semrank {

// Training pairs of fewer distinct queries take kFewQueriesGamma.
inline constexpr int kFewQueries = 20'000;

// What kAutoGamma stands for with these data; another gamma stays.
// kDefaultGamma with a streaming data set, which has many queries.
double ChooseGamma(const TrainOptions& options, const TrainingData& data);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_BATCHES_GAMMA_H_
