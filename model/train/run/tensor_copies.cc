#include "model/train/run/tensor_copies.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/fingerprint.h"

namespace semrank {

std::int64_t NumValues(const TensorView& tensor) {
  return std::accumulate(tensor.shape.begin(), tensor.shape.end(),
                         std::int64_t{1}, std::multiplies<>());
}

void TensorCopies::Assign(std::span<const TensorView> tensors) {
  views_.assign(tensors.begin(), tensors.end());
  values_.resize(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    // Reuses the memory of the copy before: all epochs have equal shapes.
    values_[i].assign(tensors[i].data, tensors[i].data + NumValues(tensors[i]));
    views_[i].data = values_[i].data();
  }
}

std::int64_t TensorBytes(std::span<const TensorView> tensors) {
  std::int64_t bytes = 0;
  for (const TensorView& tensor : tensors) {
    bytes += NumValues(tensor) * std::int64_t{sizeof(float)};
  }
  return bytes;
}

std::uint64_t TensorsFingerprint(std::span<const TensorView> tensors) {
  std::string parts;
  for (const TensorView& tensor : tensors) {
    const std::string_view bytes(
        reinterpret_cast<const char*>(tensor.data),
        static_cast<std::size_t>(NumValues(tensor)) * sizeof(float));
    // One hash for each tensor, then one over these: no copy of the weights.
    // Names and shapes count, so equal bytes in another tensor differ.
    absl::StrAppendFormat(&parts, "%s %s %x\n", tensor.name,
                          absl::StrJoin(tensor.shape, ","),
                          BytesFingerprint(bytes).lo);
  }
  return BytesFingerprint(parts).lo;
}

}  // namespace semrank
