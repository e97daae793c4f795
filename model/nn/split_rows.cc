#include "model/nn/split_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/nn/split_rows.cc"
#include <hwy/foreach_target.h>  // before all that includes highway.h

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>
#include <vector>

#include "model/nn/code_products.h"
#include "model/nn/cosine_scorer.h"
#include "model/nn/row_codes.h"
#include "model/nn/simd.h"

HWY_BEFORE_NAMESPACE();
namespace semrank::HWY_NAMESPACE {
namespace {

// The least step of a split row. No row needs less, since its largest element
// is 64 units or more, and 8 would have the scale of 16 half units.
constexpr int kMinStep = 9;
// Split rows are prefetched this many rows ahead, into L2 (cosine_scorer.cc).
constexpr std::size_t kPrefetchRows = 32;
constexpr int kPrefetchIntoL2 = 2;

struct UnitAndStep {
  float unit;
  int step;
};
UnitAndStep UnitAndStepOf(float scale) {
  // For a unit of 2^k scales are above 2^(k + 2) and at most 2^(k + 3). One bit
  // less, they have one exponent, and the next three bits count the steps.
  constexpr int kFractionBits = 23;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(scale) - 1;
  const auto unit =
      std::bit_cast<float>(((bits >> kFractionBits) - 2) << kFractionBits);
  // The difference makes the unit NaN if the scale is.
  return {unit + (scale - scale),
          kMinStep + static_cast<int>(bits >> (kFractionBits - 3) & 7)};
}

RowScale Split(std::span<const float> row, std::uint8_t* codes,
               std::uint8_t* remainders) {
  std::fill_n(codes, NumCodeBytes(static_cast<int>(row.size())),
              std::uint8_t{0});
  std::fill_n(remainders, NumCodeBytes(static_cast<int>(row.size())),
              std::uint8_t{0});
  // A row of zeros has any unit; the smallest one keeps its bound near 0.
  const bool is_zero = std::ranges::all_of(row, [](float x) { return x == 0; });
  const float unit =
      is_zero ? std::numeric_limits<float>::min() : Int8Scale(row);
  if (std::isnan(unit)) return {unit, kNoNumber, kNoNumber};
  const float inverse = 1 / unit;
  int step = kMinStep;
  for (const float value : row) {
    const int multiple = static_cast<int>(value * inverse);
    // Codes and remainders reach from -8 * step to 8 * step - 1.
    const int distance = multiple < 0 ? -multiple : multiple + 1;
    step = std::max(step, (distance + kMiddleCode - 1) / kMiddleCode);
  }
  const float scale = unit * static_cast<float>(step) / 2;
  double squares = 0;  // of e
  for (std::size_t i = 0; i < row.size(); ++i) {
    const int shifted = static_cast<int>(row[i] * inverse) + kMiddleCode * step;
    const int code = shifted / step;
    SetCode(codes, i, code);
    SetCode(remainders, i, shifted % step);
    const double error = row[i] - double{scale} * (2 * code - kMaxCode);
    squares += error * error;
  }
  return ScaleOf(scale, NormOf(row), squares, row.size());
}

void JoinSplit(const SplitRow& split, std::span<float> row) {
  const auto [unit, step] = UnitAndStepOf(split.scale->scale);
  for (std::size_t i = 0; i < row.size(); ++i) {
    const int multiple = step * (CodeAt(split.codes, i) - kMiddleCode) +
                         CodeAt(split.remainders, i);
    row[i] = static_cast<float>(multiple) * unit;
  }
}

void PrefetchSplit(const SplitRow& row, std::size_t num_bytes) {
  for (std::size_t i = 0; i < num_bytes; i += kCacheLineBytes) {
    __builtin_prefetch(row.codes + i, /*rw=*/0, kPrefetchIntoL2);
    __builtin_prefetch(row.remainders + i, /*rw=*/0, kPrefetchIntoL2);
  }
  __builtin_prefetch(row.scale, /*rw=*/0, kPrefetchIntoL2);
}

template <int Rows, bool Vnni>
void ScoreSome(const BoundQueryView& query, const SplitRow* rows,
               float* scores) {
  const BoundQueryView* const view = &query;
  std::int32_t products[2 * Rows];  // those with codes, then with remainders
  MultiplyCodes<2 * Rows, 1, Vnni>(
      &view,
      [&](auto r) HWY_ATTR {
        return r < Rows ? rows[r % Rows].codes : rows[r % Rows].remainders;
      },
      products, 2 * Rows);
  for (int r = 0; r < Rows; ++r) {
    const auto [unit, step] = UnitAndStepOf(rows[r].scale->scale);
    const std::int32_t sum =
        step * (products[r] - kMiddleCode * query.sum) + products[Rows + r];
    scores[r] = static_cast<float>(sum) * query.step * unit;
  }
}

template <bool Vnni>
void ScoreRowsOf(const BoundQueryView& query, const SplitRow* rows,
                 std::size_t num_rows, float* scores) {
  std::size_t i = 0;
  for (; i + kBlockRows <= num_rows; i += kBlockRows) {
    const std::size_t ahead = i + kPrefetchRows;
    for (std::size_t r = ahead; r < std::min(num_rows, ahead + kBlockRows);
         ++r) {
      PrefetchSplit(rows[r], query.num_bytes);
    }
    ScoreSome<kBlockRows, Vnni>(query, rows + i, scores + i);
  }
  for (; i < num_rows; ++i) ScoreSome<1, Vnni>(query, rows + i, scores + i);
}

void ScoreSplit(const BoundQueryView& query, std::span<const SplitRow> rows,
                float* scores) {
  if (HasVnni()) {
    ScoreRowsOf<true>(query, rows.data(), rows.size(), scores);
  } else {
    ScoreRowsOf<false>(query, rows.data(), rows.size(), scores);
  }
}

}  // namespace
}  // namespace semrank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace semrank {

HWY_EXPORT(Split);
HWY_EXPORT(JoinSplit);
HWY_EXPORT(ScoreSplit);

RowScale SplitIntoCodes(std::span<const float> row, std::uint8_t* codes,
                        std::uint8_t* remainders) {
  return HWY_DYNAMIC_DISPATCH(Split)(row, codes, remainders);
}

void Join(const SplitRow& split, std::span<float> row) {
  HWY_DYNAMIC_DISPATCH(JoinSplit)(split, row);
}

void ScoreSplitRows(const BoundQuery& query, std::span<const float> row,
                    std::span<const SplitRow> rows, std::span<float> scores) {
  assert(rows.size() == scores.size());
  if (query.view().is_int8) {
    HWY_DYNAMIC_DISPATCH(ScoreSplit)(query.view(), rows, scores.data());
    return;
  }
  // The query is not rounded to int8, or its scale is out of range.
  std::vector<float> joined(row.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Join(rows[i], joined);
    ScoreMatrix(row.data(), joined.data(), static_cast<int>(row.size()),
                scores.subspan(i, 1));
  }
}

}  // namespace semrank
#endif  // HWY_ONCE
