// What the reader and the writer of safetensors files share.
#ifndef SEMRANK_MODEL_FORMAT_SAFETENSORS_LAYOUT_H_
#define SEMRANK_MODEL_FORMAT_SAFETENSORS_LAYOUT_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "model/format/safetensors.h"

namespace semrank {

// Lengths and floats are copied as they are.
static_assert(std::endian::native == std::endian::little);

inline constexpr char kSafetensorsMetadata[] = "__metadata__";
inline constexpr std::size_t kSafetensorsLengthBytes = sizeof(std::uint64_t);

// InvalidArgument for too many dimensions, a negative one, or a product beyond
// 64 bits; the message begins with a verb.
inline absl::StatusOr<std::uint64_t> TensorBytes(
    const std::vector<std::int64_t>& shape) {
  if (shape.size() > kMaxTensorDimensions) {
    return absl::InvalidArgumentError(
        absl::StrFormat("has %d dimensions; the limit is %d", shape.size(),
                        kMaxTensorDimensions));
  }
  std::uint64_t bytes = sizeof(float);
  for (const std::int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(
                        bytes, static_cast<std::uint64_t>(size), &bytes)) {
      return absl::InvalidArgumentError("has an impossible shape");
    }
  }
  return bytes;
}

}  // namespace semrank

#endif  // SEMRANK_MODEL_FORMAT_SAFETENSORS_LAYOUT_H_
