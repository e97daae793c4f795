// Counts of words to tf-idf, the q and d of SSI: value = count x idf, each
// text's values scaled to length 1 (L2).
#ifndef SEMRANK_MODEL_NN_TFIDF_H_
#define SEMRANK_MODEL_NN_TFIDF_H_

#include "model/text/featurizer.h"

namespace semrank {

// Replaces the counts of texts [first, last) of `bags`; `idf` has a value from
// 0 for each index. A text whose values are all 0 keeps them. A text's values
// do not depend on the texts beside it. From any thread, on disjoint ranges.
void WeighTfIdf(const float* idf, int first, int last, BagBatch& bags);

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_TFIDF_H_
