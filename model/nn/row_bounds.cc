#include "model/nn/row_bounds.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/nn/row_bounds.cc"
#include <hwy/foreach_target.h>  // before all that includes highway.h

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

#include "model/nn/code_products.h"
#include "model/nn/row_codes.h"
#include "model/nn/row_format.h"
#include "model/nn/simd.h"

HWY_BEFORE_NAMESPACE();
namespace semrank::HWY_NAMESPACE {
namespace {

constexpr int kMaxValue = 127;
// The scale that leaves the least error of elements that are normally
// distributed with variance 1, as those of towers nearly are (J. Max,
// "Quantizing for minimum distortion", 1960). Without it, where the largest
// element alone decides, 1.05 to 1.1 times the search's time.
constexpr double kBestScale = 0.1676;
// Memory is prefetched this far ahead, also beyond the end, where the caller's
// next rows may lie.
constexpr std::size_t kPrefetchBytes = 4096;
// Beyond it a score could leave the range of float32.
constexpr float kLargestIntegerScale = 0x1p60f;

// The largest absolute value; NaN if an element is NaN.
float LargestOf(std::span<const float> row) {
  float largest = 0;
  for (const float value : row) {
    if (std::isnan(value)) return value;
    largest = std::max(largest, std::abs(value));
  }
  return largest;
}

float FloatOf(std::uint16_t upper_half) {
  return std::bit_cast<float>(std::uint32_t{upper_half} << 16);
}

RowScale Quantize(std::span<const float> row, std::uint8_t* codes) {
  const float largest = LargestOf(row);
  std::fill_n(codes, NumCodeBytes(static_cast<int>(row.size())),
              std::uint8_t{0});
  if (largest == 0) return {};
  // The bound is then NaN, and the row is scored.
  if (!std::isfinite(largest)) return {0, kNoNumber, kNoNumber};
  constexpr int kNumCodes = kMaxCode + 1;
  const double length = NormOf(row);
  const double deviation = length / std::sqrt(static_cast<double>(row.size()));
  const float best = static_cast<float>(kBestScale * deviation);
  const float scale = std::max(std::min(best, largest / kNumCodes),
                               std::numeric_limits<float>::min());
  double squares = 0;  // of e
  for (std::size_t i = 0; i < row.size(); ++i) {
    // Codes stand for the middles of intervals of 2 * scale.
    const double interval = std::floor(row[i] / (2.0 * scale)) + kMiddleCode;
    const double code = std::clamp<double>(interval, 0, kMaxCode);
    SetCode(codes, i, static_cast<int>(code));
    const double error = row[i] - scale * (2 * code - kMaxCode);
    squares += error * error;
  }
  return ScaleOf(scale, length, squares, row.size());
}

// Sets all members of `view` but its pointers, and fills the memory that they
// point to.
void PrepareQuery(std::span<const float> row,
                  std::array<std::int8_t*, 2> values, BoundQueryView& view) {
  view.norm = static_cast<float>(NormOf(row) * kRoundUp);
  view.is_int8 = view.norm == 0;
  if (view.norm == 0) return;
  if (view.norm < kMinQueryNorm || !std::isfinite(view.norm)) {
    view.step = std::nanf("");
    return;
  }
  if (IsRounded(VectorPrecision::kInt8, row)) {
    view.step = Int8Scale(row);
    view.is_int8 = view.step <= kLargestIntegerScale;
    const float inverse = 1 / view.step;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const int value = static_cast<int>(row[i] * inverse);
      values[i % 2][i / 2] = static_cast<std::int8_t>(value);
      view.sum += value;
    }
    return;
  }
  view.step = LargestOf(row) / kMaxValue;
  double squares = 0;  // of f
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double rounded = std::nearbyint(double{row[i]} / view.step);
    const double value = std::clamp<double>(rounded, -kMaxValue, kMaxValue);
    values[i % 2][i / 2] = static_cast<std::int8_t>(value);
    view.sum += static_cast<std::int32_t>(value);
    const double error = row[i] - view.step * value;
    squares += error * error;
  }
  view.error = static_cast<float>(std::sqrt(squares) * kRoundUp);
}

void BoundRowsOf(const BoundQueryView& query, const std::int32_t* sums,
                 const RowScale* scales, std::span<float> bounds) {
  // (2 * codes - 15) . values = 2 * (codes . values) - 15 * (sum of values).
  const std::int32_t offset = -kMaxCode * query.sum;
  std::size_t i = 0;
#if SEMRANK_HAVE_VECTORS
  const std::size_t lanes = hn::Lanes(kSums);
  for (; i + lanes <= bounds.size(); i += lanes) {
    hn::Vec<decltype(kBits)> scale;
    hn::Vec<decltype(kBits)> others;  // norm and error
    hn::LoadInterleaved2(kBits,
                         reinterpret_cast<const std::uint32_t*>(scales + i),
                         scale, others);
    const auto norm = hn::BitCast(kFloats, hn::ShiftLeft<16>(others));
    const auto error =
        hn::BitCast(kFloats, hn::And(others, hn::Set(kBits, 0xffff0000u)));
    const auto products = hn::Add(hn::ShiftLeft<1>(hn::LoadU(kSums, sums + i)),
                                  hn::Set(kSums, offset));
    const auto bound = hn::Add(
        hn::Mul(
            hn::ConvertTo(kFloats, products),
            hn::Mul(hn::BitCast(kFloats, scale), hn::Set(kFloats, query.step))),
        hn::Add(hn::Mul(error, hn::Set(kFloats, query.norm)),
                hn::Mul(norm, hn::Set(kFloats, query.error))));
    hn::StoreU(bound, kFloats, bounds.data() + i);
  }
#endif
  for (; i < bounds.size(); ++i) {
    const RowScale& row = scales[i];
    bounds[i] =
        static_cast<float>(2 * sums[i] + offset) * (row.scale * query.step) +
        (FloatOf(row.error) * query.norm + FloatOf(row.norm) * query.error);
  }
}

void PrefetchRows(const std::uint8_t* rows, std::size_t num_bytes) {
  for (std::size_t i = 0; i < num_bytes; i += kCacheLineBytes) {
    __builtin_prefetch(rows + kPrefetchBytes + i);
  }
}

template <int Queries, bool Vnni>
void MultiplyRows(const BoundQueryView* const* queries,
                  const std::uint8_t* codes, std::size_t num_rows,
                  bool prefetch, std::int32_t* sums) {
  const std::size_t num_bytes = queries[0]->num_bytes;
  std::size_t row = 0;
  for (; row + kBlockRows <= num_rows; row += kBlockRows) {
    const std::uint8_t* const rows = codes + row * num_bytes;
    if (prefetch) PrefetchRows(rows, kBlockRows * num_bytes);
    MultiplyCodes<kBlockRows, Queries, Vnni>(
        queries, [&](auto r) HWY_ATTR { return rows + r * num_bytes; },
        sums + row, num_rows);
  }
  for (; row < num_rows; ++row) {
    MultiplyCodes<1, Queries, Vnni>(
        queries, [&](auto /*r*/) HWY_ATTR { return codes + row * num_bytes; },
        sums + row, num_rows);
  }
}

// At most kMaxBlock rows.
constexpr std::size_t kMaxBlock = 64;
template <bool Vnni>
void BoundBlock(std::span<const BoundQueryView* const> queries,
                const std::uint8_t* codes, const RowScale* scales,
                std::size_t num_rows, float* bounds, std::size_t stride) {
  std::int32_t sums[kBlockQueries * kMaxBlock];
  for (std::size_t q = 0; q < queries.size();) {
    const bool prefetch = q == 0;
    std::size_t count = 1;
    if (q + kBlockQueries <= queries.size()) {
      count = kBlockQueries;
      MultiplyRows<kBlockQueries, Vnni>(&queries[q], codes, num_rows, prefetch,
                                        sums);
    } else {
      MultiplyRows<1, Vnni>(&queries[q], codes, num_rows, prefetch, sums);
    }
    for (std::size_t i = 0; i < count; ++i, ++q) {
      BoundRowsOf(*queries[q], sums + i * num_rows, scales,
                  {bounds + q * stride, num_rows});
    }
  }
}

// Works by blocks, whose sums stay in the L1 cache.
void BoundRows(std::span<const BoundQueryView* const> queries,
               const std::uint8_t* codes, const RowScale* scales,
               std::size_t num_rows, float* bounds) {
  for (std::size_t row = 0; row < num_rows; row += kMaxBlock) {
    const std::size_t count = std::min(kMaxBlock, num_rows - row);
    const std::uint8_t* const rows = codes + row * queries[0]->num_bytes;
    if (HasVnni()) {
      BoundBlock<true>(queries, rows, scales + row, count, bounds + row,
                       num_rows);
    } else {
      BoundBlock<false>(queries, rows, scales + row, count, bounds + row,
                        num_rows);
    }
  }
}

bool AnyAtLeast(std::span<const float> bounds, float least) {
  const std::size_t lanes = hn::Lanes(kFloats);
  const auto limit = hn::Set(kFloats, least);
  auto all_below = hn::Eq(limit, limit);
  std::size_t i = 0;
  for (; i + lanes <= bounds.size(); i += lanes) {
    all_below = hn::And(all_below,
                        hn::Lt(hn::LoadU(kFloats, bounds.data() + i), limit));
  }
  bool any = !hn::AllTrue(kFloats, all_below);
  for (; i < bounds.size(); ++i) any |= !(bounds[i] < least);
  return any;
}

}  // namespace
}  // namespace semrank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace semrank {

HWY_EXPORT(Quantize);
HWY_EXPORT(PrepareQuery);
HWY_EXPORT(BoundRows);
HWY_EXPORT(AnyAtLeast);

RowScale QuantizeRow(std::span<const float> row, std::uint8_t* codes) {
  return HWY_DYNAMIC_DISPATCH(Quantize)(row, codes);
}

void BoundQuery::Prepare(std::span<const float> row) {
  assert(row.size() <= static_cast<std::size_t>(kMaxBoundDim));
  const std::size_t num_bytes = NumCodeBytes(static_cast<int>(row.size()));
  const std::size_t num_lines =
      (num_bytes + sizeof(CacheLine) - 1) / sizeof(CacheLine);
  values_.assign(2 * num_lines, {});
  const std::array<std::int8_t*, 2> values = {
      values_.data()->bytes.data(), (values_.data() + num_lines)->bytes.data()};
  view_ = {.values = {values[0], values[1]}, .num_bytes = num_bytes};
  HWY_DYNAMIC_DISPATCH(PrepareQuery)(row, values, view_);
}

void BoundQuery::Bound(const std::uint8_t* codes, const RowScale* scales,
                       std::span<float> bounds) const {
  const BoundQueryView* const view = &view_;
  HWY_DYNAMIC_DISPATCH(BoundRows)
  ({&view, 1}, codes, scales, bounds.size(), bounds.data());
}

void BoundTogether(std::span<const BoundQuery* const> queries,
                   const std::uint8_t* codes, const RowScale* scales,
                   std::size_t num_rows, float* bounds) {
  assert(queries.size() <= kMaxBoundQueries);
  std::array<const BoundQueryView*, kMaxBoundQueries> views;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    views[i] = &queries[i]->view();
  }
  HWY_DYNAMIC_DISPATCH(BoundRows)
  (std::span(views).first(queries.size()), codes, scales, num_rows, bounds);
}

bool IsAnyAtLeast(std::span<const float> bounds, float least) {
  return HWY_DYNAMIC_DISPATCH(AnyAtLeast)(bounds, least);
}

}  // namespace semrank
#endif  // HWY_ONCE
