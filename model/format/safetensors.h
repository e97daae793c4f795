// Reads and writes weights in the public safetensors format (FORMAT.md). Only
// little-endian float32 ("F32") and int8 ("I8") are supported.
#ifndef SEMRANK_MODEL_FORMAT_SAFETENSORS_H_
#define SEMRANK_MODEL_FORMAT_SAFETENSORS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace semrank {

inline constexpr std::size_t kMaxSafetensorsHeaderBytes = std::size_t{1} << 24;
inline constexpr std::size_t kMaxTensorDimensions = 8;

// A tensor in memory that the caller owns: product(shape) elements, row-major.
struct TensorView {
  std::string name;
  std::vector<std::int64_t> shape;
  const float* data = nullptr;
  // A tensor of int8 has these elements in place of `data`.
  const std::int8_t* int8_data = nullptr;

  // Empty for a tensor of int8.
  std::span<const float> values() const;
  std::string_view bytes() const;  // of the elements, as in a file
};

// Returns the tensors of a file's content by name. They point into `content`,
// which must be aligned to 4 bytes and outlive them. Values may be NaN or
// infinite. DataLoss with `path` and the reason for anything malformed; nothing
// is allocated from a length that was not checked.
absl::StatusOr<std::map<std::string, TensorView>> ParseSafetensors(
    std::string_view content, std::string_view path);

// The format's own key-value metadata.
using SafetensorsMetadata = std::map<std::string, std::string>;

// Empty if the file has none. Errors as ParseSafetensors.
absl::StatusOr<SafetensorsMetadata> ParseSafetensorsMetadata(
    std::string_view content, std::string_view path);

// Writes header and raw tensors in the given order, the data aligned to 64
// bytes. Atomically replaces the file `path`, which other processes may be
// reading; after an error the old file stays. InvalidArgument for tensors that
// ParseSafetensors would reject.
absl::Status WriteSafetensors(const std::string& path,
                              std::span<const TensorView> tensors,
                              const SafetensorsMetadata& metadata = {});

}  // namespace semrank

#endif  // SEMRANK_MODEL_FORMAT_SAFETENSORS_H_
