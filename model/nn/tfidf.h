// Word counts to tf-idf, the q and d of SSI: value = count x idf, scaled to L2
// norm 1 for each text.
#ifndef SEMRANK_MODEL_NN_TFIDF_H_
#define SEMRANK_MODEL_NN_TFIDF_H_

#include "model/text/featurizer.h"

namespace semrank {

// Replaces the counts of texts [first, last) of `bags`; `idf` has a value >= 0
// for each index. A text whose values are all 0 keeps them. The values of a
// text do not depend on the other texts. Thread-safe on disjoint ranges.
void WeighTfIdf(const float* idf, int first, int last, BagBatch& bags);

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_TFIDF_H_
