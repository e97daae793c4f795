#include "model/nn/row_bounds.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/nn/row_bounds.cc"
#include <hwy/foreach_target.h>  // before all that includes highway.h

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <limits>

#include "model/nn/simd.h"

HWY_BEFORE_NAMESPACE();
namespace semrank::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int kMaxCode = 15;
constexpr int kMaxValue = 127;
// The scale that leaves the least error of elements that are normally
// distributed with variance 1, as those of towers nearly are (J. Max,
// "Quantizing for minimum distortion", 1960). Without it, where the largest
// element alone decides, 1.05 to 1.1 times the search's time.
constexpr double kBestScale = 0.1676;
constexpr std::uint16_t kNoNumber = 0x7fc0;  // the upper half of a NaN
// Half the distance of two floats near 1.
constexpr double kRounding = 1.0 / (1 << 24);
// Above what a few operations in double and the cast to float lose.
constexpr double kRoundUp = 1 + 4 * kRounding;
// Above what products lose that leave the range of float at its lower end, for
// queries that are not shorter than this.
constexpr double kSmallest = 1e-25;
constexpr float kMinQueryNorm = 1e-6f;

// Rows and queries whose products are summed together: as many sums as fit into
// the registers of AVX-512 beside what they are multiplied from.
constexpr int kBlockRows = 4;
constexpr int kBlockQueries = 4;
// Memory is prefetched this far ahead, also beyond the end, where the caller's
// next rows may lie.
constexpr std::size_t kPrefetchBytes = 4096;
constexpr std::size_t kCacheLineBytes = 64;
[[maybe_unused]] constexpr hn::ScalableTag<float> kFloats;
constexpr hn::ScalableTag<std::int32_t> kSums;
[[maybe_unused]] constexpr hn::ScalableTag<std::uint32_t> kBits;
[[maybe_unused]] constexpr hn::ScalableTag<std::int16_t> kWide;
[[maybe_unused]] constexpr hn::ScalableTag<std::uint16_t> kPairs;
[[maybe_unused]] constexpr hn::ScalableTag<std::uint8_t> kBytes;
[[maybe_unused]] constexpr hn::ScalableTag<std::int8_t> kValues;
using Sums = hn::Vec<decltype(kSums)>;

// True where Highway has SIMD vectors.
#undef SEMRANK_HAVE_VECTORS
#define SEMRANK_HAVE_VECTORS \
  ((HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4) || SEMRANK_SIMD_NEON)

// Products of codes, at most 15, with values in 8 bits: a sum of 4,096 is below
// 2^23, and a pair fits into 16 bits.
#if SEMRANK_HAVE_VECTORS
template <bool Vnni>
HWY_INLINE Sums AddProducts(Sums sums, hn::Vec<decltype(kBytes)> codes,
                            hn::Vec<decltype(kValues)> values) {
#if SEMRANK_SIMD_AVX512
  if constexpr (Vnni) {
    // An intrinsic would need the whole kernel compiled for a target that this
    // version of Highway does not have.
    asm("vpdpbusd %2, %1, %0"
        : "+v"(sums.raw)
        : "v"(codes.raw), "vm"(values.raw));
    return sums;
  }
  const hn::Vec<decltype(kWide)> pairs{
      _mm512_maddubs_epi16(codes.raw, values.raw)};
#elif SEMRANK_SIMD_AVX2
  const hn::Vec<decltype(kWide)> pairs{
      _mm256_maddubs_epi16(codes.raw, values.raw)};
#elif HWY_ARCH_X86
  const hn::Vec<decltype(kWide)> pairs{
      _mm_maddubs_epi16(codes.raw, values.raw)};
#else
  const hn::Half<decltype(kBytes)> half_bytes;
  const hn::Half<decltype(kValues)> half_values;
  const auto pairs = hn::Add(
      hn::Mul(hn::PromoteTo(kWide, hn::LowerHalf(half_bytes, codes)),
              hn::PromoteTo(kWide, hn::LowerHalf(half_values, values))),
      hn::Mul(hn::PromoteTo(kWide, hn::UpperHalf(half_bytes, codes)),
              hn::PromoteTo(kWide, hn::UpperHalf(half_values, values))));
#endif
  // On x86 the other sums stay 0.
  Sums others = hn::Zero(kSums);
  sums = hn::ReorderWidenMulAccumulate(kSums, pairs, hn::Set(kWide, 1), sums,
                                       others);
  return HWY_ARCH_X86 ? sums : hn::Add(sums, others);
}

// The sums of all lanes of four vectors.
template <class D, class V>
HWY_INLINE hn::Vec<hn::Full128<std::int32_t>> FoldBlocks([[maybe_unused]] D d,
                                                         V sums) {
  if constexpr (hn::MaxLanes(D()) <= 4) {
    return sums;
  } else {
    const hn::Half<D> half;
    return FoldBlocks(
        half, hn::Add(hn::LowerHalf(half, sums), hn::UpperHalf(half, sums)));
  }
}
// Adds up the lanes of each of four rows. The rows are transposed on the way,
// in blocks of four lanes, so that their sums lie side by side in the end.
HWY_INLINE void StoreSums(const Sums (&rows)[kBlockRows], std::int32_t* sums) {
  const auto add_pairs = [](Sums a, Sums b) HWY_ATTR {
    return hn::BitCast(hn::RepartitionToWide<decltype(kSums)>(),
                       hn::Add(hn::InterleaveLower(kSums, a, b),
                               hn::InterleaveUpper(kSums, a, b)));
  };
  const hn::RepartitionToWide<decltype(kSums)> wide;
  const auto first = add_pairs(rows[0], rows[1]);
  const auto second = add_pairs(rows[2], rows[3]);
  const Sums all =
      hn::Add(hn::BitCast(kSums, hn::InterleaveLower(wide, first, second)),
              hn::BitCast(kSums, hn::InterleaveUpper(wide, first, second)));
  hn::StoreU(FoldBlocks(kSums, all), hn::Full128<std::int32_t>(), sums);
}
HWY_INLINE void StoreSums(const Sums (&rows)[1], std::int32_t* sums) {
  *sums = hn::GetLane(hn::SumOfLanes(kSums, rows[0]));
}
#endif

// sums[q * stride + r] = the products of query q with the codes of row r.
template <int Rows, int Queries, bool Vnni>
void MultiplyCodes(const BoundQueryView* const* queries,
                   const std::uint8_t* rows, std::int32_t* sums,
                   std::size_t stride) {
  const std::size_t num_bytes = queries[0]->num_bytes;
  std::size_t i = 0;
#if SEMRANK_HAVE_VECTORS
  const std::size_t lanes = hn::Lanes(kBytes);
  const auto half = hn::Set(kBytes, 15);
  Sums products[Queries][Rows];
  simd::Unroll<Queries>([&](auto q) HWY_ATTR {
    simd::Unroll<Rows>([&](auto r)
                           HWY_ATTR { products[q][r] = hn::Zero(kSums); });
  });
  const auto add = [&](auto load) HWY_ATTR {
    hn::Vec<decltype(kBytes)> lower[Rows];
    hn::Vec<decltype(kBytes)> upper[Rows];
    simd::Unroll<Rows>([&](auto r) HWY_ATTR {
      const auto bytes = load(rows + r * num_bytes + i);
      lower[r] = hn::And(bytes, half);
      upper[r] = hn::And(
          hn::BitCast(kBytes, hn::ShiftRight<4>(hn::BitCast(kPairs, bytes))),
          half);
    });
    simd::Unroll<Queries>([&](auto q) HWY_ATTR {
      const auto of_lower = hn::Load(kValues, queries[q]->values[0] + i);
      const auto of_upper = hn::Load(kValues, queries[q]->values[1] + i);
      simd::Unroll<Rows>([&](auto r) HWY_ATTR {
        products[q][r] = AddProducts<Vnni>(products[q][r], lower[r], of_lower);
        products[q][r] = AddProducts<Vnni>(products[q][r], upper[r], of_upper);
      });
    });
  };
  for (; i + lanes <= num_bytes; i += lanes) {
    add([](const std::uint8_t* at) HWY_ATTR { return hn::LoadU(kBytes, at); });
  }
#if SEMRANK_SIMD_AVX512
  if (i < num_bytes) {
    const auto rest = hn::FirstN(kBytes, num_bytes - i);
    add([rest](const std::uint8_t* at)
            HWY_ATTR { return hn::MaskedLoad(rest, kBytes, at); });
    i = num_bytes;
  }
#endif
  simd::Unroll<Queries>(
      [&](auto q) HWY_ATTR { StoreSums(products[q], sums + q * stride); });
#else
  for (int q = 0; q < Queries; ++q) std::fill_n(sums + q * stride, Rows, 0);
#endif
  // Handles the elements after the last whole vector one by one; without SIMD
  // vectors, all.
  for (; i < num_bytes; ++i) {
    for (int q = 0; q < Queries; ++q) {
      for (int r = 0; r < Rows; ++r) {
        const std::uint8_t byte = rows[r * num_bytes + i];
        sums[q * stride + r] += queries[q]->values[0][i] * (byte & 15) +
                                queries[q]->values[1][i] * (byte >> 4);
      }
    }
  }
}

double NormOf(std::span<const float> row) {
  double squares = 0;
  for (const float value : row) squares += double{value} * value;
  return std::sqrt(squares);
}

// The largest absolute value; NaN if an element is NaN.
float LargestOf(std::span<const float> row) {
  float largest = 0;
  for (const float value : row) {
    if (std::isnan(value)) return value;
    largest = std::max(largest, std::abs(value));
  }
  return largest;
}

// The upper 16 bits of a float32 that is not negative, rounded up: what a bound
// is made of may grow, but not shrink.
std::uint16_t UpperHalf(float number) {
  return static_cast<std::uint16_t>(
      (std::bit_cast<std::uint32_t>(number) + 0xffff) >> 16);
}
std::uint16_t UpperHalf(double number) {
  return UpperHalf(static_cast<float>(number * kRoundUp));
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
  constexpr int kMiddleCode = kNumCodes / 2;
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
    codes[i / 2] |=
        static_cast<std::uint8_t>(static_cast<unsigned>(code) << (i % 2 * 4));
    const double error = row[i] - scale * (2 * code - kMaxCode);
    squares += error * error;
  }
  const double norm = length + std::sqrt(squares);
  // The rounding of float32 in the score's products and sums, and then in those
  // of the bound.
  const double rounding =
      norm * (static_cast<double>(row.size()) + 32) * kRounding + kSmallest;
  return {scale, UpperHalf(norm), UpperHalf(std::sqrt(squares) + rounding)};
}

// Sets all members of `view` but its pointers, and fills the memory that they
// point to.
void PrepareQuery(std::span<const float> row,
                  std::array<std::int8_t*, 2> values, BoundQueryView& view) {
  view.norm = static_cast<float>(NormOf(row) * kRoundUp);
  if (view.norm == 0) return;
  if (view.norm < kMinQueryNorm || !std::isfinite(view.norm)) {
    view.step = std::nanf("");
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
    MultiplyCodes<kBlockRows, Queries, Vnni>(queries, rows, sums + row,
                                             num_rows);
  }
  for (; row < num_rows; ++row) {
    MultiplyCodes<1, Queries, Vnni>(queries, codes + row * num_bytes,
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

bool HasVnni() {
#if SEMRANK_SIMD_AVX512
  static const bool has_vnni = __builtin_cpu_supports("avx512vnni");
  return has_vnni;
#else
  return false;
#endif
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
    views[i] = &queries[i]->view_;
  }
  HWY_DYNAMIC_DISPATCH(BoundRows)
  (std::span(views).first(queries.size()), codes, scales, num_rows, bounds);
}

bool IsAnyAtLeast(std::span<const float> bounds, float least) {
  return HWY_DYNAMIC_DISPATCH(AnyAtLeast)(bounds, least);
}

}  // namespace semrank
#endif  // HWY_ONCE
