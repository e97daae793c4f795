// Rows that are rounded to int8 and kept as codes and remainders of 4 bits
// each: bounds are computed from the codes (row_bounds.h), exact scores from
// both. A row takes 264 bytes at 256 dimensions.
//
//   Element  unit * (step * code + remainder - 8 * step), where `unit` is the
//            power of two of the row (row_format.h), 9 <= step <= 16, and
//            0 <= remainder < step.
//   Scale    unit * step / 2. Both factors follow from it, since the largest
//            step is less than twice the smallest. NaN for a row with an
//            element that is not finite.
//   Shapes   rows, query and scales have formats for which CanSplit is true.
#ifndef SEMRANK_MODEL_NN_SPLIT_ROWS_H_
#define SEMRANK_MODEL_NN_SPLIT_ROWS_H_

#include <cstdint>
#include <span>

#include "model/nn/row_bounds.h"
#include "model/nn/row_codes.h"
#include "model/nn/row_format.h"

namespace semrank {

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

// scores[i] = query . rows[i], with the bits that ScoreDocuments computes of
// the int8 rows. `row` is the query's vector, that of Prepare. Prefetches rows.
void ScoreSplitRows(const BoundQuery& query, std::span<const float> row,
                    std::span<const SplitRow> rows, std::span<float> scores);

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_SPLIT_ROWS_H_
