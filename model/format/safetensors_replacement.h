// WriteSafetensors for a file that others may be reading.
//
//   Threads  a free function, from any thread.
#ifndef SEMRANK_MODEL_FORMAT_SAFETENSORS_REPLACEMENT_H_
#define SEMRANK_MODEL_FORMAT_SAFETENSORS_REPLACEMENT_H_

#include <span>
#include <string>

#include "absl/status/status.h"
#include "model/format/safetensors.h"

namespace semrank {

// As WriteSafetensors, in place of the file `path`, which stays as it is after
// an error (FileReplacement).
absl::Status ReplaceSafetensors(const std::string& path,
                                std::span<const TensorView> tensors,
                                const SafetensorsMetadata& metadata = {});

}  // namespace semrank

#endif  // SEMRANK_MODEL_FORMAT_SAFETENSORS_REPLACEMENT_H_
