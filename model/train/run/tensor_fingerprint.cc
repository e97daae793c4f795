#include "model/train/run/tensor_fingerprint.h"

#include <cstddef>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/fingerprint.h"

namespace semrank {

std::uint64_t TensorsFingerprint(std::span<const TensorView> tensors) {
  std::string parts;
  for (const TensorView& tensor : tensors) {
    std::size_t size = sizeof(float);
    for (const auto length : tensor.shape) size *= length;
    const std::string_view bytes(reinterpret_cast<const char*>(tensor.data),
                                 size);
    absl::StrAppendFormat(&parts, "%s %s %x\n", tensor.name,
                          absl::StrJoin(tensor.shape, ","),
                          BytesFingerprint(bytes).lo);
  }
  return BytesFingerprint(parts).lo;
}

}  // namespace semrank
