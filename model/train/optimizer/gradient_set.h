// The gradients of one step, kept until all of them are known: clipping and
// training in several processes need that. (A step that needs neither applies
// each part of a gradient at once and keeps none.)
#ifndef SEMRANK_MODEL_TRAIN_OPTIMIZER_GRADIENT_SET_H_
#define SEMRANK_MODEL_TRAIN_OPTIMIZER_GRADIENT_SET_H_

#include <cstdint>
#include <span>
#include <vector>

#include "model/base/thread_pool.h"

namespace semrank {

// The gradient of a tensor of which a step changes few rows; the gradient of
// all other rows is 0.
struct RowGradients {
  int width = 0;                    // floats in a row
  std::vector<std::uint32_t> rows;  // distinct; the order is the step's
  std::vector<float> values;        // [rows.size(), width]
};

// Views of the gradients that the layers of a model keep, always in the same
// order. Valid until the next step.
struct GradientSet {
  std::vector<std::span<float>> dense;
  std::vector<RowGradients*> sparse;

  // All values, tensor after tensor.
  std::vector<std::span<float>> Values() const;
};

// Gradient clipping by the global norm: with g the gradient of all weights as
// one vector, scales g to length `limit` if it is longer (Pascanu, Mikolov and
// Bengio, 2013). Returns |g| before that, which does not depend on the number
// of threads. A gradient that is not finite stays as it is: the loss of the
// next step shows it.
double ClipGradients(double limit, const GradientSet& gradients,
                     ThreadPool& pool);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_OPTIMIZER_GRADIENT_SET_H_
