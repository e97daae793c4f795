// The logQ correction of in-batch negatives (Yi et al., Sampling-Bias-Corrected
// Neural Modeling for Large Corpus Item Recommendations, RecSys 2019).
//
//   Threads  thread-safe.
#ifndef SEMRANK_MODEL_TRAIN_BATCHES_LOGQ_H_
#define SEMRANK_MODEL_TRAIN_BATCHES_LOGQ_H_

#include <span>
#include <vector>

#include "model/data/text_pairs.h"
#include "model/train/data/training_data.h"
#include "model/train/options/train_options.h"

namespace semrank {

// X ln n of each title, by its TextId, where n is the number of its pairs in an
// epoch. Empty when X is 0.
std::vector<float> LogQCorrections(const LossOptions& options,
                                   std::span<const TextPair> pairs);

// The mean, over the pairs of an epoch, of how many others of the same
// mini-batch have the same title.
double MeanPairsOfTheSameTitle(const TrainOptions& options,
                               std::span<const TextPair> pairs);

// What kAutoLogQ stands for with these data; another X stays. kDefaultLogQ when
// MeanPairsOfTheSameTitle is above 1, otherwise 0. Also 0 with a streaming data
// set, which does not know the number of pairs of a title.
double ChooseLogQ(const TrainOptions& options, const TrainingData& data);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_BATCHES_LOGQ_H_
