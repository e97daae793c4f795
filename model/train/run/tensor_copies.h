// Copies of tensors, such as the weights of the best epoch.
#ifndef SEMRANK_MODEL_TRAIN_RUN_TENSOR_COPIES_H_
#define SEMRANK_MODEL_TRAIN_RUN_TENSOR_COPIES_H_

#include <span>
#include <vector>

#include "model/format/safetensors.h"

namespace semrank {

class TensorCopies {
 public:
  // Replaces the copies, reusing their memory.
  void Assign(std::span<const TensorView> tensors);

  // Valid until the next Assign.
  const std::vector<TensorView>& views() const { return views_; }

 private:
  std::vector<std::vector<float>> values_;
  std::vector<TensorView> views_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_TENSOR_COPIES_H_
