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
//   Shapes   dim <= kMaxBoundDim; asserted.
#ifndef SEMRANK_MODEL_NN_ROW_BOUNDS_H_
#define SEMRANK_MODEL_NN_ROW_BOUNDS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/nn/row_codes.h"

namespace semrank {

// Beyond it the sum of products of integers could leave 32 bits.
inline constexpr int kMaxBoundDim = 4096;

// Writes the codes of `row`, NumCodeBytes(row.size()) bytes.
RowScale QuantizeRow(std::span<const float> row, std::uint8_t* codes);

// A query in the form that bounds are computed from. Const after Prepare.
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

  const BoundQueryView& view() const { return view_; }

 private:
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
