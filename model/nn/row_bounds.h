// Upper bounds of dot products, from copies of the rows in 8-bit integers: a
// search reads a fraction of the memory and computes in float32 only what may
// still have a place. Its results are those of a search in float32, to the bit.
//
//   Row      x = scale * codes + e, with |codes| <= 127.
//   Query    y = step * values + f, in integers.
//   Bound    x . y = scale * step * (codes . values) + scale * codes . f + e .
//   y
//            <= scale * step * (codes . values) + |scale * codes| |f| + |e| |y|
//            (Cauchy-Schwarz), and what float32 rounds on both ways.
//   Halves   codes + 128 = 16 * high + low, of 4 bits each, which lie apart.
//            Of most rows only the high halves are read: with low taken for
//            7.5 the same bound holds, with a larger e. They are multiplied
//            with a query in 8 bits, whose f is small beside that e, and all
//            8 bits with one in 16.
//   Layout   a unit of 16 bits holds the halves of 4 codes, the first one in
//            the lowest bits; the codes behind the last are 0 to the query.
//   Shapes   dim <= kMaxBoundDim; asserted.
//   Threads  thread-safe free functions; a BoundQuery is const after Prepare.
#ifndef SEMRANK_MODEL_NN_ROW_BOUNDS_H_
#define SEMRANK_MODEL_NN_ROW_BOUNDS_H_

#include <array>
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

// Upper halves of numbers in float32, rounded up.
struct RowScale {
  std::uint16_t scale = 0;
  std::uint16_t norm = 0;        // of the row, and of scale * codes
  std::uint16_t error = 0;       // |e| of the codes
  std::uint16_t high_error = 0;  // |e| of their high halves alone
};

// Writes the halves of the codes of `row`, NumCodeUnits(row.size()) units each.
// Without `low` (null) a row has no close bound.
RowScale QuantizeRow(std::span<const float> row, CodeUnit* high, CodeUnit* low);

// A query as bounds read it.
struct BoundQueryView {
  // In 8 bits: of the codes in the lower and in the upper bits of each byte;
  // zeros fill up the last cache line.
  std::array<const std::int8_t*, 2> coarse = {};
  std::int32_t coarse_sum = 0;
  float coarse_step = 0;
  float coarse_error = 0;  // |f|
  // In 16 bits.
  const std::int16_t* fine = nullptr;  // [4, num_units]: of 4 codes in turn
  std::int64_t fine_sum = 0;
  float fine_step = 0;
  float fine_error = 0;
  std::size_t num_units = 0;
  float norm = 0;  // at least the query's
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
  friend void BoundTogether(std::span<const BoundQuery* const> queries,
                            const CodeUnit* high, const RowScale* scales,
                            std::size_t num_rows, float* bounds);

  struct alignas(64) CacheLine {
    std::array<std::int8_t, 64> bytes = {};
  };
  std::vector<CacheLine> coarse_;
  std::vector<std::int16_t> fine_;
  BoundQueryView view_;  // of both
};

// BoundQuery::Bound of at most kMaxBoundQueries queries of one dimension, equal
// to the bit, into the row-major `bounds` [queries.size(), num_rows]. Costs
// less than one query after the other: rows are unpacked once for four queries.
inline constexpr std::size_t kMaxBoundQueries = 16;
void BoundTogether(std::span<const BoundQuery* const> queries,
                   const CodeUnit* high, const RowScale* scales,
                   std::size_t num_rows, float* bounds);

// Whether any bound is at least `least` or NaN.
bool IsAnyAtLeast(std::span<const float> bounds, float least);

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_ROW_BOUNDS_H_
