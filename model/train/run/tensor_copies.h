// Sizes, copies and fingerprints of tensors.
#ifndef SEMRANK_MODEL_TRAIN_RUN_TENSOR_COPIES_H_
#define SEMRANK_MODEL_TRAIN_RUN_TENSOR_COPIES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "model/format/safetensors.h"

namespace semrank {

// Copies of tensors, such as the weights of the best epoch.
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

// Bytes of all tensors.
std::int64_t TensorBytes(std::span<const TensorView> tensors);

// A hash of names, shapes and values, the same in every process and release.
std::uint64_t TensorsFingerprint(std::span<const TensorView> tensors);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_TENSOR_COPIES_H_
