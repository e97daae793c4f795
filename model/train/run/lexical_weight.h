// Chooses the weight w of the model's lexical part (LexicalSpec) for
// --lexical=auto, on queries that the towers did not learn from: the cosine of
// the towers is too good on those that they did.
//
//   In memory  a training pass of half the epochs, at most 6, without a tenth
//              of the pairs (a quarter, if there are 1,000 queries or fewer)
//              fits w on these; the run then trains on all pairs. Half of them
//              are whole connected components of the click graph, whose titles
//              the pass never sees: a server also gets documents that are
//              newer than the training, and the model knows only their names
//              and rare words. The other half are all pairs of single queries.
//              w is the mean of what fits either half.
//   Streaming  a second pass costs too much: w is fitted after the run, on the
//              validation pairs.
//   Promise    the seed, the files and the flags decide w to the bit.
//   Processes  all of them call; the first fits.
#ifndef SEMRANK_MODEL_TRAIN_RUN_LEXICAL_WEIGHT_H_
#define SEMRANK_MODEL_TRAIN_RUN_LEXICAL_WEIGHT_H_

#include "absl/status/statusor.h"
#include "model/train/data/training_data.h"
#include "model/train/distributed/communicator.h"
#include "model/train/options/train_options.h"

namespace semrank {

// The pass for data in memory. `data` has texts and lexical_idf, and is
// unchanged when this returns. Fails as StepLoop::RunEpoch.
absl::StatusOr<double> FitLexicalWeightByTraining(const TrainOptions& options,
                                                  TrainingData& data,
                                                  const Workers& workers);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_LEXICAL_WEIGHT_H_
