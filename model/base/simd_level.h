// The instruction set that the kernels use. Each source with kernels is
// compiled once per level by Highway's foreach_target.h, so one program is as
// fast as its processor allows:
//
//   v1     every x86-64 processor: SSE2, and plain loops where Highway has none
//   v2     SSE4.2 and AES
//   v3     AVX2 and FMA
//   v4     AVX-512 F, VL, DQ and BW
//   neon   every 64-bit ARM processor
//
// Results are equal to the bit within one level; between levels vectors and
// scores differ by less than 1e-6 (1e-3 where layers are computed in int8).
//
//   Threads  call UseSimdLevel before anything is computed: matrices that were
//            packed for one level cannot be read by another.
#ifndef SEMRANK_MODEL_BASE_SIMD_LEVEL_H_
#define SEMRANK_MODEL_BASE_SIMD_LEVEL_H_

#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace semrank {

// The best level of this processor unless UseSimdLevel chose another.
std::string_view SimdLevel();

// The levels that this processor supports, best first.
std::vector<std::string_view> SupportedSimdLevels();

// Chooses a level by name. InvalidArgument, with the supported ones, for any
// other.
absl::Status UseSimdLevel(std::string_view name);

// Chooses the level that the environment's SEMRANK_SIMD names; none or empty
// leaves the best. CommandLine::Parse calls it for every program.
absl::Status UseSimdLevelOfEnvironment();

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_SIMD_LEVEL_H_
