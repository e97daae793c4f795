// The features of a published model and those of a run that begins from it,
// united: the model's features first, in the order of its files, then what the
// run's texts have beside them. So the rows of known features can be copied,
// and new n-grams, words and bigrams get rows of their own.
//
//   Threads  thread-safe.
#ifndef SEMRANK_MODEL_TRAIN_START_VOCABULARY_UNION_H_
#define SEMRANK_MODEL_TRAIN_START_VOCABULARY_UNION_H_

#include <vector>

#include "absl/status/statusor.h"
#include "model/text/featurizer.h"

namespace semrank {

// Hashed n-grams stay those of `start`. Has each kind of feature that one of
// the two has. InvalidArgument when one hashes n-grams and the other lists
// them, or their n-grams differ in length.
absl::StatusOr<Featurizer> UniteFeatures(const Featurizer& start,
                                         const Featurizer& run);

// Consecutive features of the start, and where they begin in the union.
struct FeatureRange {
  int from = 0;
  int to = 0;
  int count = 0;
};

// All features of `start`. `united` is from UniteFeatures, or `start` itself.
std::vector<FeatureRange> RangesOfStart(const Featurizer& start,
                                        const Featurizer& united);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_START_VOCABULARY_UNION_H_
