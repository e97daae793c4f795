#include "model/nn/row_format.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace semrank {
namespace {

constexpr std::uint32_t kInfinityBits = 0x7f800000;

constexpr int kDroppedBits = 16;
constexpr float kLargestInt8 = 127;
// A unit vector rounded to float32 is off by less than 2^-23 in length.
constexpr double kUnitLengthTolerance = 1e-6;
// The other vector of a dot product has sums of weights of at most
// 1e6 (model/format/FORMAT.md).
constexpr float kLargestUsableValue = 1e15f;
// Elements of a vector of length 1 need far larger scales; far smaller ones
// would lose bits of a product.
constexpr int kSmallestExponent = -60;

// This has no branch, so that the compiler can use SIMD instructions.
float RoundToBf16(float value) {
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

void EncodeBf16(std::span<const float> vector, std::byte* row) {
  auto* const halves = reinterpret_cast<std::uint16_t*>(row);
  for (std::size_t i = 0; i < vector.size(); ++i) {
    halves[i] = static_cast<std::uint16_t>(
        std::bit_cast<std::uint32_t>(vector[i]) >> kDroppedBits);
  }
}

void DecodeBf16(const std::byte* row, std::span<float> vector) {
  const auto* const halves = reinterpret_cast<const std::uint16_t*>(row);
  for (std::size_t i = 0; i < vector.size(); ++i) {
    vector[i] = std::bit_cast<float>(std::uint32_t{halves[i]} << kDroppedBits);
  }
}

float RoundToMultiple(float value, float scale) {
  // Adding it leaves no bit for a fraction; subtracting it gives +0, not -0.
  constexpr float kNoFraction = 0x1.8p23f;
  return (value * (1 / scale) + kNoFraction - kNoFraction) * scale;
}

void EncodeInt8(std::span<const float> vector, std::byte* row) {
  const float scale = Int8Scale(vector);
  std::memcpy(row, &scale, sizeof(scale));
  auto* const elements = reinterpret_cast<std::int8_t*>(row + kInt8ScaleBytes);
  const float inverse = std::isnan(scale) ? 0 : 1 / scale;
  for (std::size_t i = 0; i < vector.size(); ++i) {
    elements[i] = std::isnan(scale)
                      ? std::int8_t{0}
                      : static_cast<std::int8_t>(vector[i] * inverse);
  }
}

void DecodeInt8(const std::byte* row, std::span<float> vector) {
  float scale = 0;
  std::memcpy(&scale, row, sizeof(scale));
  const auto* const elements =
      reinterpret_cast<const std::int8_t*>(row + kInt8ScaleBytes);
  for (std::size_t i = 0; i < vector.size(); ++i) {
    vector[i] = static_cast<float>(elements[i]) * scale;
  }
}

}  // namespace

// A power of two, so that products with multiples, multiplied by it in the end,
// are to the bit products with elements.
float Int8Scale(std::span<const float> vector) {
  // The maximum is taken over the bits, which the compiler compares by SIMD
  // instructions.
  std::int32_t largest_bits = 0;
  for (const float value : vector) {
    largest_bits =
        std::max(largest_bits, std::bit_cast<std::int32_t>(value) & 0x7fffffff);
  }
  if (largest_bits >= static_cast<std::int32_t>(kInfinityBits)) {
    return std::numeric_limits<float>::quiet_NaN();
  }
  int exponent = 0;
  const double fraction = std::frexp(
      double{std::bit_cast<float>(largest_bits)} / kLargestInt8, &exponent);
  // frexp returns a fraction from 0.5 to below 1, so the power of two above it
  // is 2^exponent, unless the value is a power of two itself.
  if (fraction == 0.5) --exponent;
  return std::ldexp(1.0f, std::max(exponent, kSmallestExponent));
}

void RoundVector(VectorPrecision precision, std::span<float> vector) {
  switch (precision) {
    case VectorPrecision::kFloat32:
      return;
    case VectorPrecision::kBf16:
      for (float& value : vector) value = RoundToBf16(value);
      return;
    case VectorPrecision::kInt8: {
      const float scale = Int8Scale(vector);
      for (float& value : vector) value = RoundToMultiple(value, scale);
      return;
    }
  }
}

bool IsRounded(VectorPrecision precision, std::span<const float> vector) {
  switch (precision) {
    case VectorPrecision::kFloat32:
      return true;
    case VectorPrecision::kBf16:
      return std::ranges::all_of(
          vector, [](float value) { return RoundToBf16(value) == value; });
    case VectorPrecision::kInt8:
      return std::ranges::all_of(
          vector, [scale = Int8Scale(vector)](float value) {
            return RoundToMultiple(value, scale) == value;
          });
  }
  return true;
}

double LengthError(VectorPrecision precision, std::span<const float> rounded) {
  switch (precision) {
    case VectorPrecision::kFloat32:
      return 0;
    case VectorPrecision::kBf16:
      return 0x1p-8;  // each element by at most half of its last bit
    case VectorPrecision::kInt8:
      return Int8Scale(rounded) / 2 *
             std::sqrt(static_cast<double>(rounded.size()));
  }
  return 0;
}

bool ScaleToUnitLength(VectorPrecision precision, std::span<float> vector) {
  // In double, where squares of floats neither overflow nor vanish.
  double length_squared = 0;
  for (const float value : vector) length_squared += double{value} * value;
  if (!std::isfinite(length_squared)) return false;
  const double length = std::sqrt(length_squared);
  const double tolerance =
      kUnitLengthTolerance +
      (IsRounded(precision, vector) ? LengthError(precision, vector) : 0);
  if (length > 0 && std::abs(length - 1) > tolerance) {
    for (float& value : vector) {
      value = static_cast<float>(double{value} / length);
    }
  }
  RoundVector(precision, vector);
  return true;
}

bool HasUsableValues(std::span<const float> vector) {
  // False for NaN too, whose comparisons are false.
  return std::ranges::all_of(vector, [](float value) {
    return std::abs(value) <= kLargestUsableValue;
  });
}

void EncodeRow(const float* vector, RowFormat format, std::byte* row) {
  const std::span elements(vector, static_cast<std::size_t>(format.dim));
  assert(IsRounded(format.precision, elements));
  switch (format.precision) {
    case VectorPrecision::kFloat32:
      std::memcpy(row, vector, format.num_bytes());
      return;
    case VectorPrecision::kBf16:
      return EncodeBf16(elements, row);
    case VectorPrecision::kInt8:
      return EncodeInt8(elements, row);
  }
}

void DecodeRow(const std::byte* row, RowFormat format, float* vector) {
  const std::span elements(vector, static_cast<std::size_t>(format.dim));
  switch (format.precision) {
    case VectorPrecision::kFloat32:
      std::memcpy(vector, row, format.num_bytes());
      return;
    case VectorPrecision::kBf16:
      return DecodeBf16(row, elements);
    case VectorPrecision::kInt8:
      return DecodeInt8(row, elements);
  }
}

}  // namespace semrank
