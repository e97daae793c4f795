// Upper bounds of dot products, from copies of the rows in 8-bit integers: a
// search reads a quarter of the memory and computes in float32 only what may
// still have a place. Its results are those of a search in float32, to the bit.
//
//   Row      x = scale * codes + e, with |codes| <= 127.
//   Query    y = step * values + f, in 16-bit integers.
//   Bound    x . y = scale * step * (codes . values) + scale * codes . f + e .
//   y
//            <= scale * step * (codes . values) + error * |y|, where
//            error >= |e| + |scale * codes| |f| / |y| (Cauchy-Schwarz) and what
//            float32 rounds on both ways.
//   Shapes   dim <= kMaxBoundDim; asserted.
//   Threads  thread-safe free functions; a BoundQuery is const after Prepare.
#ifndef SEMRANK_MODEL_NN_ROW_BOUNDS_H_
#define SEMRANK_MODEL_NN_ROW_BOUNDS_H_

#include <cstdint>
#include <span>
#include <vector>

namespace semrank {

// Beyond it the sum of products of integers could leave 32 bits.
inline constexpr int kMaxBoundDim = 4096;

struct RowScale {
  float scale = 0;
  float error = 0;
};

// Writes the codes of `row`, [row.size()] both.
RowScale QuantizeRow(std::span<const float> row, std::int8_t* codes);

class BoundQuery {
 public:
  void Prepare(std::span<const float> row);

  // bounds[i] is at least the dot product that ScoreMatrix computes of the
  // query and row i, given as row i of the row-major `codes` [bounds.size(),
  // dim] and scales[i]; or it is NaN, which bounds nothing, when a number of
  // the row is not finite or the query is out of range.
  void Bound(const std::int8_t* codes, const RowScale* scales,
             std::span<float> bounds) const;

 private:
  std::vector<std::int16_t> values_;
  int dim_ = 0;
  float step_ = 0;
  float norm_ = 0;  // at least the row's
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_ROW_BOUNDS_H_
