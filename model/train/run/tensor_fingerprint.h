// Tells whether two sets of tensors hold the same bits.
#ifndef SEMRANK_MODEL_TRAIN_RUN_TENSOR_FINGERPRINT_H_
#define SEMRANK_MODEL_TRAIN_RUN_TENSOR_FINGERPRINT_H_

#include <cstdint>
#include <span>

#include "model/format/safetensors.h"

namespace semrank {

// Of names, shapes and values; the same in every process and release.
std::uint64_t TensorsFingerprint(std::span<const TensorView> tensors);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_TENSOR_FINGERPRINT_H_
