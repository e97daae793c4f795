// Keeps a step's gradient, all weights taken together as one vector g, from
// being longer than a limit: g limit / |g| if |g| is above it (Pascanu, Mikolov
// and Bengio, 2013).
#ifndef SEMRANK_MODEL_TRAIN_OPTIMIZER_GRADIENT_CLIPPING_H_
#define SEMRANK_MODEL_TRAIN_OPTIMIZER_GRADIENT_CLIPPING_H_

#include "model/base/thread_pool.h"
#include "model/train/optimizer/gradient_set.h"

namespace semrank {

// Returns |g| as it was. The sum behind it is taken in one order, whatever the
// threads. A gradient that is not finite is left as it is, for the loss of the
// next step to show.
double ClipGradients(double limit, const GradientSet& gradients,
                     ThreadPool& pool);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_OPTIMIZER_GRADIENT_CLIPPING_H_
