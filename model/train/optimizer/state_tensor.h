// What a trainer keeps from step to step, to be saved or restored.
#ifndef SEMRANK_MODEL_TRAIN_OPTIMIZER_STATE_TENSOR_H_
#define SEMRANK_MODEL_TRAIN_OPTIMIZER_STATE_TENSOR_H_

#include <span>
#include <string>

namespace semrank {

// Floats of a trainer under a name that is its own: a weight, or what an
// optimizer keeps of it.
struct StateTensor {
  std::string name;
  std::span<float> values;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_OPTIMIZER_STATE_TENSOR_H_
