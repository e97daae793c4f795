#include "model/nn/row_bounds.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/nn/row_bounds.cc"
#include <hwy/foreach_target.h>  // before all that includes highway.h

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>

#include "model/nn/simd.h"

HWY_BEFORE_NAMESPACE();
namespace semrank::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int kMaxCode = 127;
constexpr int kMaxValue = 32767;
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
// Rows are prefetched this far ahead, also beyond the end, where the caller's
// next ones may lie.
constexpr std::size_t kPrefetchRows = 16;
constexpr int kCacheLineBytes = 64;
constexpr hn::ScalableTag<std::int32_t> kSums;
constexpr hn::ScalableTag<std::int16_t> kValues;
constexpr hn::Rebind<std::int8_t, hn::ScalableTag<std::int16_t>> kCodes;

// Products of integers, summed exactly. Reads whole vectors only; what is left
// of a row is multiplied one by one.
template <int Rows>
void MultiplyRows(const std::int16_t* values, const std::int8_t* codes, int dim,
                  std::int32_t* products) {
  const auto lanes = static_cast<int>(hn::Lanes(kValues));
  const auto stride = static_cast<std::size_t>(dim);
  hn::Vec<decltype(kSums)> even[Rows];
  hn::Vec<decltype(kSums)> odd[Rows];
  simd::Unroll<Rows>([&](auto r)
                         HWY_ATTR { even[r] = odd[r] = hn::Zero(kSums); });
  int i = 0;
  for (; i + lanes <= dim; i += lanes) {
    const auto value = hn::LoadU(kValues, values + i);
    simd::Unroll<Rows>([&](auto r) HWY_ATTR {
      const std::int8_t* const at = codes + r * stride + i;
      if (i % kCacheLineBytes == 0) {
        __builtin_prefetch(at + kPrefetchRows * stride);
      }
      const auto code = hn::PromoteTo(kValues, hn::LoadU(kCodes, at));
      even[r] =
          hn::ReorderWidenMulAccumulate(kSums, value, code, even[r], odd[r]);
    });
  }
  simd::Unroll<Rows>([&](auto r) HWY_ATTR {
    products[r] = hn::GetLane(hn::SumOfLanes(kSums, hn::Add(even[r], odd[r])));
    for (int rest = i; rest < dim; ++rest) {
      products[r] += values[rest] * codes[r * stride + rest];
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

RowScale Quantize(std::span<const float> row, std::int8_t* codes) {
  const float largest = LargestOf(row);
  std::fill_n(codes, row.size(), std::int8_t{0});
  if (largest == 0) return {};
  if (!std::isfinite(largest)) {
    // Every bound is NaN, and the row is scored.
    return {0, std::nanf("")};
  }
  const double scale = static_cast<float>(largest / kMaxCode);
  double squares = 0;  // of e
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double code = scale == 0 ? 0 : std::nearbyint(row[i] / scale);
    codes[i] =
        static_cast<std::int8_t>(std::clamp<double>(code, -kMaxCode, kMaxCode));
    const double error = row[i] - scale * codes[i];
    squares += error * error;
  }
  const double error = std::sqrt(squares);
  const double norm = NormOf(row) + error;  // of x and of scale * codes
  const auto dim = static_cast<double>(row.size());
  // |f| is at most half a step for each number, and a step at most |y| / 32767.
  const double query_error = std::sqrt(dim) / (2 * kMaxValue);
  // Of float32: the score's products and sums, then those of the bound.
  const double rounding = (dim + 16) * kRounding;
  return {
      static_cast<float>(scale),
      static_cast<float>((error + norm * (query_error + rounding) + kSmallest) *
                         kRoundUp)};
}

// Writes the values of a query and at least its norm; returns the step.
float QuantizeQuery(std::span<const float> row, std::int16_t* values,
                    float& norm) {
  std::fill_n(values, row.size(), std::int16_t{0});
  norm = static_cast<float>(NormOf(row) * kRoundUp);
  const float step = LargestOf(row) / kMaxValue;
  if (norm == 0) return step;
  if (norm < kMinQueryNorm || !std::isfinite(norm)) return std::nanf("");
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double value = std::nearbyint(double{row[i]} / step);
    values[i] = static_cast<std::int16_t>(
        std::clamp<double>(value, -kMaxValue, kMaxValue));
  }
  return step;
}

// bounds[i] = row i's; `values` has dim elements.
void BoundRows(const std::int16_t* values, int dim, float step, float norm,
               const std::int8_t* codes, const RowScale* scales,
               std::span<float> bounds) {
  std::int32_t products[kBlockRows];
  for (std::size_t i = 0; i < bounds.size();) {
    const std::int8_t* const rows = codes + i * static_cast<std::size_t>(dim);
    const int count = i + kBlockRows <= bounds.size() ? kBlockRows : 1;
    if (count == kBlockRows) {
      MultiplyRows<kBlockRows>(values, rows, dim, products);
    } else {
      MultiplyRows<1>(values, rows, dim, products);
    }
    for (int r = 0; r < count; ++r, ++i) {
      bounds[i] = static_cast<float>(products[r]) * (scales[i].scale * step) +
                  scales[i].error * norm;
    }
  }
}

}  // namespace
}  // namespace semrank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace semrank {

HWY_EXPORT(Quantize);
HWY_EXPORT(QuantizeQuery);
HWY_EXPORT(BoundRows);

RowScale QuantizeRow(std::span<const float> row, std::int8_t* codes) {
  return HWY_DYNAMIC_DISPATCH(Quantize)(row, codes);
}

void BoundQuery::Prepare(std::span<const float> row) {
  assert(row.size() <= static_cast<std::size_t>(kMaxBoundDim));
  dim_ = static_cast<int>(row.size());
  values_.resize(row.size());
  step_ = HWY_DYNAMIC_DISPATCH(QuantizeQuery)(row, values_.data(), norm_);
}

void BoundQuery::Bound(const std::int8_t* codes, const RowScale* scales,
                       std::span<float> bounds) const {
  HWY_DYNAMIC_DISPATCH(BoundRows)
  (values_.data(), dim_, step_, norm_, codes, scales, bounds);
}

}  // namespace semrank
#endif  // HWY_ONCE
