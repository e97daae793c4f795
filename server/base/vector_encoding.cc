#include "server/base/vector_encoding.h"

#include <Eigen/Core>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace semrank {

static_assert(std::endian::native == std::endian::little,
              "vectors are copied to and from the wire as they lie in memory");

void EncodeFloat32(std::span<const float> values, std::string& bytes) {
  bytes.assign(reinterpret_cast<const char*>(values.data()),
               values.size_bytes());
}

void EncodeFloat16(std::span<const float> values, std::string& bytes) {
  bytes.resize(values.size() * sizeof(Eigen::half));
  char* out = bytes.data();
  // memcpy, because the string's bytes need not be aligned for a half.
  for (const float value : values) {
    const Eigen::half half(value);
    std::memcpy(out, &half, sizeof(half));
    out += sizeof(half);
  }
}

void EncodeInt8(std::span<const float> values, int dim, std::string& bytes,
                std::vector<float>& scales) {
  bytes.resize(values.size());
  scales.clear();
  char* out = bytes.data();
  // Symmetric quantisation: each row has its own scale, and -128 is not used,
  // so that a vector and its negative have the same error.
  for (std::size_t begin = 0; begin < values.size(); begin += dim) {
    const std::span<const float> row = values.subspan(begin, dim);
    float largest = 0;
    // A row of zeros keeps scale 0 and codes 0.
    for (const float value : row) largest = std::max(largest, std::abs(value));
    scales.push_back(largest / 127.0f);
    // In double: 127 / largest may be beyond a float.
    const double inverse = largest > 0 ? 127.0 / double{largest} : 0.0;
    for (const float value : row) {
      const double rounded = std::nearbyint(value * inverse);
      *out++ = static_cast<char>(static_cast<std::int8_t>(rounded));
    }
  }
}

void DecodeFloat32(std::string_view bytes, std::span<float> values) {
  std::memcpy(values.data(), bytes.data(), values.size_bytes());
}

}  // namespace semrank
