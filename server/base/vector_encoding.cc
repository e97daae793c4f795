#include "server/base/vector_encoding.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "server/base/vector_encoding.cc"
#include <hwy/foreach_target.h>  // before all that includes highway.h
#include <hwy/highway.h>

#include <Eigen/Core>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace semrank::HWY_NAMESPACE {
namespace {

// Rounds to nearest, ties to even, at every level: Highway's own conversion
// truncates where the processor has no instruction for it.
void ToFloat16(std::span<const float> values, char* out) {
  std::size_t i = 0;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  for (; i + 8 <= values.size(); i += 8, out += 16) {
    const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(values.data() + i),
                                           _MM_FROUND_TO_NEAREST_INT);
    std::memcpy(out, &halves, sizeof(halves));
  }
#endif
  for (; i < values.size(); ++i, out += sizeof(Eigen::half)) {
    const Eigen::half half(values[i]);
    // The string's bytes need not be aligned for a half.
    std::memcpy(out, &half, sizeof(half));
  }
}

// Returns the scale of the row. The quantisation is symmetric: it does not use
// -128, so that a vector and its negative have the same error. A row of zeros
// has scale 0 and codes 0.
float ToInt8(std::span<const float> row, char* out) {
  float largest = 0;
  for (const float value : row) largest = std::max(largest, std::abs(value));
  // In float, 127 / largest could overflow.
  const double inverse = largest > 0 ? 127.0 / double{largest} : 0.0;
  for (const float value : row) {
    const double rounded = std::nearbyint(value * inverse);
    *out++ = static_cast<char>(static_cast<std::int8_t>(rounded));
  }
  return largest / 127.0f;
}

}  // namespace
}  // namespace semrank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace semrank {

HWY_EXPORT(ToFloat16);
HWY_EXPORT(ToInt8);

static_assert(std::endian::native == std::endian::little,
              "vectors are copied to and from the wire as they lie in memory");

void EncodeFloat32(std::span<const float> values, std::string& bytes) {
  bytes.assign(reinterpret_cast<const char*>(values.data()),
               values.size_bytes());
}

void EncodeFloat16(std::span<const float> values, std::string& bytes) {
  bytes.resize(values.size() * sizeof(Eigen::half));
  HWY_DYNAMIC_DISPATCH(ToFloat16)(values, bytes.data());
}

void EncodeInt8(std::span<const float> values, int dim, std::string& bytes,
                std::vector<float>& scales) {
  bytes.resize(values.size());
  scales.clear();
  for (std::size_t begin = 0; begin < values.size(); begin += dim) {
    scales.push_back(HWY_DYNAMIC_DISPATCH(ToInt8)(values.subspan(begin, dim),
                                                  bytes.data() + begin));
  }
}

void DecodeFloat32(std::string_view bytes, std::span<float> values) {
  // An empty span may be null, which memcpy must not get.
  if (values.empty()) return;
  std::memcpy(values.data(), bytes.data(), values.size_bytes());
}

}  // namespace semrank
#endif  // HWY_ONCE
