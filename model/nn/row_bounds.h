// Upper bounds of dot products, from copies of the rows in 8-bit integers: a
// search reads a fraction of the memory and computes in float32 only what may
// still have a place. Its results are those of a search in float32, to the bit.
//
//   Row      x = scale * codes + e, with |codes| <= 127.
//   Query    y = step * values + f, in 16-bit integers.
//   Bound    x . y = scale * step * (codes . values) + scale * codes . f + e .
//   y
//            <= scale * step * (codes . values) + error * |y|, where
//            error >= |e| + |scale * codes| |f| / |y| (Cauchy-Schwarz) and what
//            float32 rounds on both ways.
//   Halves   codes + 128 = 16 * high + low, of 4 bits each, which lie apart.
//            Of most rows only the high halves are read: with low taken for
//            7.5 the same bound holds, with a larger error.
//   Layout   a unit of 16 bits holds the halves of 4 codes, the first one in
//            the lowest bits; the codes behind the last are 0 to the query.
//   Shapes   dim <= kMaxBoundDim; asserted.
//   Threads  thread-safe free functions; a BoundQuery is const after Prepare.
#ifndef SEMRANK_MODEL_NN_ROW_BOUNDS_H_
#define SEMRANK_MODEL_NN_ROW_BOUNDS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace semrank {

// Beyond it the sum of products of integers could leave 32 bits.
inline constexpr int kMaxBoundDim = 4096;

// The halves of four codes.
using CodeUnit = std::uint16_t;
constexpr std::size_t NumCodeUnits(int dim) {
  return (static_cast<std::size_t>(dim) + 3) / 4;
}

struct RowScale {
  float scale = 0;
  // Upper halves of numbers in float32, rounded up.
  std::uint16_t error = 0;       // of the codes
  std::uint16_t high_error = 0;  // of their high halves alone
};

// Writes the halves of the codes of `row`, NumCodeUnits(row.size()) units each.
RowScale QuantizeRow(std::span<const float> row, CodeUnit* high, CodeUnit* low);

// A query as bounds read it.
struct BoundQueryView {
  const std::int16_t* values = nullptr;  // [4, num_units]: of 4 codes in turn
  std::size_t num_units = 0;
  std::int64_t sum = 0;  // of values
  float step = 0;
  float norm = 0;  // at least the row's
};

class BoundQuery {
 public:
  BoundQuery() = default;
  BoundQuery(const BoundQuery&) = delete;
  BoundQuery& operator=(const BoundQuery&) = delete;

  void Prepare(std::span<const float> row);

  // bounds[i] is at least the dot product that ScoreMatrix computes of the
  // query and row i, given as row i of the row-major `high` [bounds.size(),
  // NumCodeUnits(dim)] and scales[i]; or it is NaN, which bounds nothing, when
  // a number of the row is not finite or the query is out of range.
  void Bound(const CodeUnit* high, const RowScale* scales,
             std::span<float> bounds) const;
  // The same of one row, closer by its low halves.
  float BoundClosely(const CodeUnit* high, const CodeUnit* low,
                     const RowScale& scale) const;

 private:
  std::vector<std::int16_t> values_;
  BoundQueryView view_;  // of values_
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_ROW_BOUNDS_H_
