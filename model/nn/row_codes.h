// Rows in codes of 4 bits, x = scale * (2 * codes - 15) + e, and queries in 8
// bits: the format that row_bounds.h, split_rows.h and their kernels share.
//
//   Layout   a byte holds two codes, the first one in the lower bits; what
//            follows the last one is 0 to the query.
#ifndef SEMRANK_MODEL_NN_ROW_CODES_H_
#define SEMRANK_MODEL_NN_ROW_CODES_H_

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace semrank {

constexpr std::size_t NumCodeBytes(int dim) {
  return (static_cast<std::size_t>(dim) + 1) / 2;
}

struct RowScale {
  float scale = 0;
  // Upper halves of numbers in float32, rounded up.
  std::uint16_t norm = 0;   // of x and of x - e
  std::uint16_t error = 0;  // |e|
};

// A query, y = step * values + f (row_bounds.h). Views its values.
struct BoundQueryView {
  // The values for the codes in the lower and in the upper bits of each byte;
  // zeros fill the last cache line.
  std::array<const std::int8_t*, 2> values = {};
  std::int32_t sum = 0;  // of the values
  float step = 0;
  float error = 0;            // |f|
  float norm = 0;             // at least the query's
  std::size_t num_bytes = 0;  // of a row's codes
  // Whether the query is rounded to int8, so that f = 0 and the products with
  // split rows (split_rows.h) are exact.
  bool is_int8 = false;
};

inline constexpr int kMaxCode = 15;
inline constexpr int kMiddleCode = (kMaxCode + 1) / 2;
inline constexpr std::uint16_t kNoNumber = 0x7fc0;  // the upper half of a NaN
// Half the distance of two floats near 1.
inline constexpr double kRounding = 1.0 / (1 << 24);
// Above what a few operations in double and the cast to float lose.
inline constexpr double kRoundUp = 1 + 4 * kRounding;
// Above what products lose that leave the range of float at its lower end, for
// queries that are not shorter than kMinQueryNorm.
inline constexpr double kSmallest = 1e-25;
inline constexpr float kMinQueryNorm = 1e-6f;

inline double NormOf(std::span<const float> row) {
  double squares = 0;
  for (const float value : row) squares += double{value} * value;
  return std::sqrt(squares);
}

// The upper 16 bits of a float32 that is not negative, rounded up: what a bound
// is made of may grow, but not shrink.
inline std::uint16_t UpperHalf(float number) {
  return static_cast<std::uint16_t>(
      (std::bit_cast<std::uint32_t>(number) + 0xffff) >> 16);
}
inline std::uint16_t UpperHalf(double number) {
  return UpperHalf(static_cast<float>(number * kRoundUp));
}

inline void SetCode(std::uint8_t* codes, std::size_t i, int code) {
  codes[i / 2] |= static_cast<std::uint8_t>(code << (i % 2 * 4));
}
inline int CodeAt(const std::uint8_t* codes, std::size_t i) {
  return codes[i / 2] >> (i % 2 * 4) & kMaxCode;
}

// `squares` is the sum of the squares of e.
inline RowScale ScaleOf(float scale, double length, double squares,
                        std::size_t dim) {
  const double norm = length + std::sqrt(squares);
  // The rounding of float32 in the score's products and sums, and then in those
  // of the bound.
  const double rounding =
      norm * (static_cast<double>(dim) + 32) * kRounding + kSmallest;
  return {scale, UpperHalf(norm), UpperHalf(std::sqrt(squares) + rounding)};
}

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_ROW_CODES_H_
