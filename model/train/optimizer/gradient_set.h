// The gradients of one step, kept until all of them are known: what clipping
// and training in several processes need. (A step that needs neither uses each
// piece of a gradient at once and keeps none.)
#ifndef SEMRANK_MODEL_TRAIN_OPTIMIZER_GRADIENT_SET_H_
#define SEMRANK_MODEL_TRAIN_OPTIMIZER_GRADIENT_SET_H_

#include <cstdint>
#include <span>
#include <vector>

namespace semrank {

// Of a tensor of which a step touches few rows; the others have none.
struct RowGradients {
  int width = 0;                    // floats in a row
  std::vector<std::uint32_t> rows;  // distinct; the order is the step's
  std::vector<float> values;        // [rows.size(), width]
};

// Views of what the layers of a model keep, always in the same order. Good
// until the next step.
struct GradientSet {
  std::vector<std::span<float>> dense;
  std::vector<RowGradients*> sparse;

  // All values, tensor after tensor.
  std::vector<std::span<float>> Values() const;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_OPTIMIZER_GRADIENT_SET_H_
