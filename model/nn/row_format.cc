#include "model/nn/row_format.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>

namespace semrank {
namespace {

constexpr int kDroppedBits = 16;

// Without a branch, so that the compiler can use SIMD instructions.
float RoundToBf16(float value) {
  constexpr std::uint32_t kInfinityBits = 0x7f800000;
  constexpr std::uint32_t kQuietNanBit = 0x00400000;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  // One less than half of the last bit that stays, and one more if that bit is
  // set, so that a value in the middle goes to the even neighbour. A carry goes
  // to the exponent, where it belongs.
  const std::uint32_t rounded = bits + 0x7fff + (bits >> kDroppedBits & 1);
  // Rounding the bits of a NaN could make an infinity of it.
  const bool is_nan = (bits & 0x7fffffff) > kInfinityBits;
  const std::uint32_t kept = is_nan ? bits | kQuietNanBit : rounded;
  return std::bit_cast<float>(kept >> kDroppedBits << kDroppedBits);
}

}  // namespace

void RoundVector(VectorPrecision precision, std::span<float> vector) {
  if (precision == VectorPrecision::kFloat32) return;
  for (float& value : vector) value = RoundToBf16(value);
}

bool IsRounded(VectorPrecision precision, std::span<const float> vector) {
  return precision == VectorPrecision::kFloat32 ||
         std::ranges::all_of(
             vector, [](float value) { return RoundToBf16(value) == value; });
}

void EncodeRow(const float* vector, RowFormat format, std::byte* row) {
  assert(IsRounded(format.precision,
                   {vector, static_cast<std::size_t>(format.dim)}));
  if (format.precision == VectorPrecision::kFloat32) {
    std::memcpy(row, vector, format.num_bytes());
    return;
  }
  auto* const halves = reinterpret_cast<std::uint16_t*>(row);
  for (int i = 0; i < format.dim; ++i) {
    halves[i] = static_cast<std::uint16_t>(
        std::bit_cast<std::uint32_t>(vector[i]) >> kDroppedBits);
  }
}

void DecodeRow(const std::byte* row, RowFormat format, float* vector) {
  if (format.precision == VectorPrecision::kFloat32) {
    std::memcpy(vector, row, format.num_bytes());
    return;
  }
  const auto* const halves = reinterpret_cast<const std::uint16_t*>(row);
  for (int i = 0; i < format.dim; ++i) {
    vector[i] = std::bit_cast<float>(std::uint32_t{halves[i]} << kDroppedBits);
  }
}

}  // namespace semrank
