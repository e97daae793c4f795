#include "model/train/optimizer/gradient_set.h"

namespace semrank {

std::vector<std::span<float>> GradientSet::Values() const {
  std::vector<std::span<float>> values = dense;
  for (RowGradients* rows : sparse) values.emplace_back(rows->values);
  return values;
}

}  // namespace semrank
