// Reads and writes the public safetensors layout (FORMAT.md): parse,
// validate, then map. Only little-endian float32 ("F32") is used.
//
//   Threads  const after opening.
//   Errors   DataLoss with the file and the reason for anything malformed;
//            nothing is allocated from a length that was not checked.
#ifndef SEMRANK_MODEL_FORMAT_SAFETENSORS_H_
#define SEMRANK_MODEL_FORMAT_SAFETENSORS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace semrank {

// A tensor somewhere in memory: row-major floats, product(shape) of them.
struct TensorView {
  std::string name;
  std::vector<std::int64_t> shape;
  const float* data = nullptr;
};

// The tensors of a file's content, by name; they point into `content`, which
// must be aligned to 4 bytes and outlive them. `path` is for messages.
absl::StatusOr<std::map<std::string, TensorView>> ParseSafetensors(
    std::string_view content, std::string_view path);

// Header and raw tensors, in the order given, the data aligned to 64 bytes.
// Syncs the file; not atomic by itself (see WriteModelBundle).
absl::Status WriteSafetensors(const std::string& path,
                              std::span<const TensorView> tensors);

}  // namespace semrank

#endif  // SEMRANK_MODEL_FORMAT_SAFETENSORS_H_
