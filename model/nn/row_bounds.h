// Upper bounds of dot products, from copies of the rows in 4-bit codes: a
// search reads a fraction of the memory and scores only rows that may still
// have a place. Its results are those of scoring every row, to the bit.
//
//   Row      x = scale * (2 * codes - 15) + e, with codes from 0 to 15.
//   Query    y = step * values + f, with values from -127 to 127.
//   Bound    x . y = (x - e) . (y - f) + (x - e) . f + e . y
//            <= scale * step * (2 * codes - 15) . values
//               + |x - e| |f| + |e| |y|
//            (Cauchy-Schwarz), and what float32 rounds on both ways.
//   Layout   a byte holds two codes, the first one in the lower bits; what
//            follows the last one is 0 to the query.
//   Shapes   dim <= kMaxBoundDim; asserted.
//
// An int8 row is not kept beside its codes. It is split into codes and
// remainders of 4 bits each, from which both bound and score are computed: 264
// bytes at 256 dimensions.
//
//   Element  unit * (step * code + remainder - 8 * step), where `unit` is the
//            power of two of the row (row_format.h), 9 <= step <= 16, and
//            0 <= remainder < step.
//   Scale    unit * step / 2. Both factors follow from it, since the largest
//            step is less than twice the smallest.
#ifndef SEMRANK_MODEL_NN_ROW_BOUNDS_H_
#define SEMRANK_MODEL_NN_ROW_BOUNDS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/nn/row_format.h"

namespace semrank {

// Beyond it the sum of products of integers could leave 32 bits.
inline constexpr int kMaxBoundDim = 4096;

constexpr std::size_t NumCodeBytes(int dim) {
  return (static_cast<std::size_t>(dim) + 1) / 2;
}

struct RowScale {
  float scale = 0;
  // Upper halves of numbers in float32, rounded up.
  std::uint16_t norm = 0;   // of x and of x - e
  std::uint16_t error = 0;  // |e|
};

// Writes the codes of `row`, NumCodeBytes(row.size()) bytes.
RowScale QuantizeRow(std::span<const float> row, std::uint8_t* codes);

constexpr bool CanSplit(RowFormat format) {
  return format.precision == VectorPrecision::kInt8 && 0 < format.dim &&
         format.dim <= kMaxIntegerDim;
}

// A row that was split. Codes and remainders are NumCodeBytes(dim) bytes each.
struct SplitRow {
  const std::uint8_t* codes = nullptr;
  const std::uint8_t* remainders = nullptr;
  const RowScale* scale = nullptr;
};

// Writes the codes and the remainders of a row that is rounded to int8. Join
// writes the same row again.
RowScale SplitIntoCodes(std::span<const float> row, std::uint8_t* codes,
                        std::uint8_t* remainders);
void Join(const SplitRow& split, std::span<float> row);

// A query in the form that bounds are computed from. Const after Prepare.
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
  // split rows are exact.
  bool is_int8 = false;
};

class BoundQuery {
 public:
  BoundQuery() = default;
  BoundQuery(const BoundQuery&) = delete;
  BoundQuery& operator=(const BoundQuery&) = delete;

  void Prepare(std::span<const float> row);

  // bounds[i] is at least the dot product that ScoreMatrix computes of the
  // query and row i, given as row i of the row-major `codes` [bounds.size(),
  // NumCodeBytes(dim)] and scales[i]; or it is NaN, which bounds nothing, when
  // a number of the row is not finite or the query is out of range.
  void Bound(const std::uint8_t* codes, const RowScale* scales,
             std::span<float> bounds) const;

  // scores[i] = query . rows[i], with the bits that ScoreDocuments computes of
  // the int8 rows. `row` is that of Prepare. Prefetches rows.
  void Score(std::span<const float> row, std::span<const SplitRow> rows,
             std::span<float> scores) const;

 private:
  friend void BoundTogether(std::span<const BoundQuery* const> queries,
                            const std::uint8_t* codes, const RowScale* scales,
                            std::size_t num_rows, float* bounds);

  struct alignas(64) CacheLine {
    std::array<std::int8_t, 64> bytes = {};
  };
  std::vector<CacheLine> values_;
  BoundQueryView view_;
};

// BoundQuery::Bound of at most kMaxBoundQueries queries of one dimension, equal
// to the bit, into the row-major `bounds` [queries.size(), num_rows]. Costs
// less than one query after the other: rows are unpacked once for four queries.
inline constexpr std::size_t kMaxBoundQueries = 16;
void BoundTogether(std::span<const BoundQuery* const> queries,
                   const std::uint8_t* codes, const RowScale* scales,
                   std::size_t num_rows, float* bounds);

// Whether any bound is at least `least` or NaN.
bool IsAnyAtLeast(std::span<const float> bounds, float least);

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_ROW_BOUNDS_H_
