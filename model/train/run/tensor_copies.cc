#include "model/train/run/tensor_copies.h"

#include <cstdint>
#include <functional>
#include <numeric>

namespace semrank {

void TensorCopies::Assign(std::span<const TensorView> tensors) {
  views_.assign(tensors.begin(), tensors.end());
  values_.resize(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::int64_t count =
        std::accumulate(tensors[i].shape.begin(), tensors[i].shape.end(),
                        std::int64_t{1}, std::multiplies<>());
    values_[i].assign(tensors[i].data, tensors[i].data + count);
    views_[i].data = values_[i].data();
  }
}

}  // namespace semrank
