#include "model/train/run/tensor_copies.h"

#include <cstddef>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/fingerprint.h"

namespace semrank {

void TensorCopies::Assign(std::span<const TensorView> tensors) {
  views_.assign(tensors.begin(), tensors.end());
  values_.resize(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    // Reuses the memory of the copy before: all epochs have equal shapes.
    const std::span<const float> values = tensors[i].values();
    values_[i].assign(values.begin(), values.end());
    views_[i].data = values_[i].data();
  }
}

std::int64_t TensorBytes(std::span<const TensorView> tensors) {
  std::int64_t bytes = 0;
  for (const TensorView& tensor : tensors) {
    bytes += std::ssize(tensor.bytes());
  }
  return bytes;
}

std::uint64_t TensorsFingerprint(std::span<const TensorView> tensors) {
  std::string parts;
  for (const TensorView& tensor : tensors) {
    // A hash of each tensor, then one of these, needs no copy of the weights.
    // Names and shapes count, so equal bytes in another tensor differ.
    absl::StrAppendFormat(&parts, "%s %s %x\n", tensor.name,
                          absl::StrJoin(tensor.shape, ","),
                          BytesFingerprint(tensor.bytes()).lo);
  }
  return BytesFingerprint(parts).lo;
}

}  // namespace semrank
