#include "model/nn/row_bounds.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/nn/row_bounds.cc"
#include <hwy/foreach_target.h>  // before all that includes highway.h

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "model/nn/simd.h"

HWY_BEFORE_NAMESPACE();
namespace semrank::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int kMaxCode = 127;
constexpr int kMaxValue = 32767;
// What makes codes positive, and what a low half is on average.
constexpr int kCodeOffset = 128;
constexpr double kMeanLow = 7.5;
constexpr std::uint16_t kNoNumber = 0x7fc0;  // the upper half of a NaN
// Half the distance of two floats near 1.
constexpr double kRounding = 1.0 / (1 << 24);
// Above what a few operations in double and the cast to float lose.
constexpr double kRoundUp = 1 + 4 * kRounding;
// Above what products lose that leave the range of float at its lower end, for
// queries that are not shorter than this.
constexpr double kSmallest = 1e-25;
constexpr float kMinQueryNorm = 1e-6f;

// Rows that are bounded together: one load of the query for all of them.
constexpr int kBlockRows = 4;
// Memory is prefetched this far ahead, also beyond the end, where the caller's
// next rows may lie.
constexpr std::size_t kPrefetchBytes = 4096;
constexpr std::size_t kCacheLineBytes = 64;
constexpr hn::ScalableTag<std::int32_t> kSums;
constexpr hn::ScalableTag<std::int16_t> kValues;
constexpr hn::ScalableTag<std::uint16_t> kUnits;

// Products of values with halves of codes, summed exactly: a sum is at most
// 4,096 * 32,767 * 15 < 2^31. Reads whole vectors only; what is left of a row
// is multiplied one by one.
template <int Rows, bool Prefetch>
void MultiplyRows(const std::int16_t* values, const CodeUnit* halves,
                  std::size_t num_units, std::int32_t* products) {
  const std::size_t lanes = hn::Lanes(kUnits);
  const auto half = hn::Set(kUnits, 15);
  hn::Vec<decltype(kSums)> even[Rows];
  hn::Vec<decltype(kSums)> odd[Rows];
  simd::Unroll<Rows>([&](auto r)
                         HWY_ATTR { even[r] = odd[r] = hn::Zero(kSums); });
  std::size_t i = 0;
  for (; i + lanes <= num_units; i += lanes) {
    const auto value0 = hn::LoadU(kValues, values + i);
    const auto value1 = hn::LoadU(kValues, values + num_units + i);
    const auto value2 = hn::LoadU(kValues, values + 2 * num_units + i);
    const auto value3 = hn::LoadU(kValues, values + 3 * num_units + i);
    simd::Unroll<Rows>([&](auto r) HWY_ATTR {
      const CodeUnit* const at = halves + r * num_units + i;
      if (Prefetch && i * sizeof(CodeUnit) % kCacheLineBytes == 0) {
        __builtin_prefetch(at + kPrefetchBytes / sizeof(CodeUnit));
      }
      const auto units = hn::LoadU(kUnits, at);
      const auto add = [&](auto value, auto codes) HWY_ATTR {
        even[r] = hn::ReorderWidenMulAccumulate(
            kSums, value, hn::BitCast(kValues, codes), even[r], odd[r]);
      };
      add(value0, hn::And(units, half));
      add(value1, hn::And(hn::ShiftRight<4>(units), half));
      add(value2, hn::And(hn::ShiftRight<8>(units), half));
      add(value3, hn::ShiftRight<12>(units));
    });
  }
  simd::Unroll<Rows>([&](auto r) HWY_ATTR {
    products[r] = hn::GetLane(hn::SumOfLanes(kSums, hn::Add(even[r], odd[r])));
    for (std::size_t rest = i; rest < num_units; ++rest) {
      const CodeUnit unit = halves[r * num_units + rest];
      for (int j = 0; j < 4; ++j) {
        products[r] += values[j * num_units + rest] * ((unit >> (4 * j)) & 15);
      }
    }
  });
}

double NormOf(std::span<const float> row) {
  double squares = 0;
  for (const float value : row) squares += double{value} * value;
  return std::sqrt(squares);
}

// The largest absolute value; NaN when a number is.
float LargestOf(std::span<const float> row) {
  float largest = 0;
  for (const float value : row) {
    if (std::isnan(value)) return value;
    largest = std::max(largest, std::abs(value));
  }
  return largest;
}

// The error of a bound for each unit of the query's norm, where the codes are
// off by `error` from a row of that norm.
std::uint16_t BoundError(double error, double row_norm, double dim) {
  const double norm = row_norm + error;  // of x and of scale * codes
  // |f| is at most half a step for each number, and a step at most |y| / 32767.
  const double query_error = std::sqrt(dim) / (2 * kMaxValue);
  // Of float32: the score's products and sums, then those of the bound.
  const double rounding = (dim + 16) * kRounding;
  const auto bound = static_cast<float>(
      (error + norm * (query_error + rounding) + kSmallest) * kRoundUp);
  return static_cast<std::uint16_t>(
      (std::bit_cast<std::uint32_t>(bound) + 0xffff) >> 16);
}

float ErrorOf(std::uint16_t upper_half) {
  return std::bit_cast<float>(std::uint32_t{upper_half} << 16);
}

RowScale Quantize(std::span<const float> row, CodeUnit* high, CodeUnit* low) {
  const float largest = LargestOf(row);
  const std::size_t num_units = NumCodeUnits(static_cast<int>(row.size()));
  std::fill_n(high, num_units, CodeUnit{0});
  std::fill_n(low, num_units, CodeUnit{0});
  if (largest == 0) return {};
  if (!std::isfinite(largest)) {
    // Every bound is NaN, and the row is scored.
    return {0, kNoNumber, kNoNumber};
  }
  const double scale = static_cast<float>(largest / kMaxCode);
  double squares = 0;  // of e
  double high_squares = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double rounded = scale == 0 ? 0 : std::nearbyint(row[i] / scale);
    const double code = std::clamp<double>(rounded, -kMaxCode, kMaxCode);
    const auto halves = static_cast<unsigned>(code + kCodeOffset);
    high[i / 4] |= static_cast<CodeUnit>((halves / 16) << (i % 4 * 4));
    low[i / 4] |= static_cast<CodeUnit>((halves % 16) << (i % 4 * 4));
    const double error = row[i] - scale * code;
    squares += error * error;
    const double high_code = halves / 16 * 16 + kMeanLow - kCodeOffset;
    const double high_error = row[i] - scale * high_code;
    high_squares += high_error * high_error;
  }
  const double norm = NormOf(row);
  const auto dim = static_cast<double>(row.size());
  return {static_cast<float>(scale), BoundError(std::sqrt(squares), norm, dim),
          BoundError(std::sqrt(high_squares), norm, dim)};
}

// Writes the values of a query and at least its norm; returns the step.
float QuantizeQuery(std::span<const float> row, std::int16_t* values,
                    float& norm) {
  const std::size_t num_units = NumCodeUnits(static_cast<int>(row.size()));
  std::fill_n(values, 4 * num_units, std::int16_t{0});
  norm = static_cast<float>(NormOf(row) * kRoundUp);
  const float step = LargestOf(row) / kMaxValue;
  if (norm == 0) return step;
  if (norm < kMinQueryNorm || !std::isfinite(norm)) return std::nanf("");
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double value = std::nearbyint(double{row[i]} / step);
    values[i % 4 * num_units + i / 4] = static_cast<std::int16_t>(
        std::clamp<double>(value, -kMaxValue, kMaxValue));
  }
  return step;
}

// From twice the products of values and codes, whose halves are integers when
// the codes of high halves alone are not.
float BoundOf(const BoundQueryView& query, std::int64_t twice_products,
              float scale, float error) {
  return static_cast<float>(twice_products) * (scale * query.step * 0.5f) +
         error * query.norm;
}

// bounds[i] = row i's, by its high halves.
void BoundRows(const BoundQueryView& query, const CodeUnit* high,
               const RowScale* scales, std::span<float> bounds) {
  constexpr auto kTwiceOffset =
      static_cast<std::int64_t>(2 * (kMeanLow - kCodeOffset));
  std::int32_t products[kBlockRows];
  for (std::size_t i = 0; i < bounds.size();) {
    const CodeUnit* const rows = high + i * query.num_units;
    const int count = i + kBlockRows <= bounds.size() ? kBlockRows : 1;
    if (count == kBlockRows) {
      MultiplyRows<kBlockRows, true>(query.values, rows, query.num_units,
                                     products);
    } else {
      MultiplyRows<1, true>(query.values, rows, query.num_units, products);
    }
    for (int r = 0; r < count; ++r, ++i) {
      bounds[i] = BoundOf(
          query, 32 * std::int64_t{products[r]} + kTwiceOffset * query.sum,
          scales[i].scale, ErrorOf(scales[i].high_error));
    }
  }
}

float BoundRowClosely(const BoundQueryView& query, const CodeUnit* high,
                      const CodeUnit* low, const RowScale& scale) {
  std::int32_t of_high = 0;
  std::int32_t of_low = 0;
  MultiplyRows<1, false>(query.values, high, query.num_units, &of_high);
  MultiplyRows<1, false>(query.values, low, query.num_units, &of_low);
  const std::int64_t products =
      16 * std::int64_t{of_high} + of_low - kCodeOffset * query.sum;
  return BoundOf(query, 2 * products, scale.scale, ErrorOf(scale.error));
}

}  // namespace
}  // namespace semrank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace semrank {

HWY_EXPORT(Quantize);
HWY_EXPORT(QuantizeQuery);
HWY_EXPORT(BoundRows);
HWY_EXPORT(BoundRowClosely);

RowScale QuantizeRow(std::span<const float> row, CodeUnit* high,
                     CodeUnit* low) {
  return HWY_DYNAMIC_DISPATCH(Quantize)(row, high, low);
}

void BoundQuery::Prepare(std::span<const float> row) {
  assert(row.size() <= static_cast<std::size_t>(kMaxBoundDim));
  const std::size_t num_units = NumCodeUnits(static_cast<int>(row.size()));
  values_.resize(4 * num_units);
  view_ = {.values = values_.data(), .num_units = num_units};
  view_.step =
      HWY_DYNAMIC_DISPATCH(QuantizeQuery)(row, values_.data(), view_.norm);
  view_.sum = std::reduce(values_.begin(), values_.end(), std::int64_t{0});
}

void BoundQuery::Bound(const CodeUnit* high, const RowScale* scales,
                       std::span<float> bounds) const {
  HWY_DYNAMIC_DISPATCH(BoundRows)
  (view_, high, scales, bounds);
}

float BoundQuery::BoundClosely(const CodeUnit* high, const CodeUnit* low,
                               const RowScale& scale) const {
  return HWY_DYNAMIC_DISPATCH(BoundRowClosely)(view_, high, low, scale);
}

}  // namespace semrank
#endif  // HWY_ONCE
