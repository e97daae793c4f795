// Options that depend on the training data: gamma, the factor on the cosine in
// eq. 6, X of the logQ correction of in-batch negatives (Yi et al.,
// Sampling-Bias-Corrected Neural Modeling for Large Corpus Item
// Recommendations, RecSys 2019), and what chooses the epoch.
#ifndef SEMRANK_MODEL_TRAIN_BATCHES_AUTO_LOSS_OPTIONS_H_
#define SEMRANK_MODEL_TRAIN_BATCHES_AUTO_LOSS_OPTIONS_H_

#include <span>
#include <vector>

#include "model/data/text_pairs.h"
#include "model/train/data/training_data.h"
#include "model/train/options/train_options.h"

namespace semrank {

// The value of kAutoGamma with these data; another gamma stays. Streaming data
// sets have many queries.
double ChooseGamma(const TrainOptions& options, const TrainingData& data);

// The value of kAutoLogQ with these data; another X stays. kPopularTitlesLogQ
// when MeanPairsOfTheSameTitle is above 1, otherwise 0. Also 0 with a streaming
// data set, which does not know the number of pairs of a title.
double ChooseLogQ(const TrainOptions& options, const TrainingData& data);

// The value of EpochMeasure::kAuto with these data, which ResolveOptions leaves
// for a constant rate without judged queries; another measure stays.
EpochMeasure ChooseEpochMeasure(const TrainOptions& options,
                                const TrainingData& data);

// X ln n of each title, by its TextId, where n is the number of its pairs in an
// epoch. Empty when X is 0.
std::vector<float> LogQCorrections(const LossOptions& options,
                                   std::span<const TextPair> pairs);

// The mean, over the pairs of an epoch, of how many others of the same
// mini-batch have the same title.
double MeanPairsOfTheSameTitle(const TrainOptions& options,
                               std::span<const TextPair> pairs);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_BATCHES_AUTO_LOSS_OPTIONS_H_
