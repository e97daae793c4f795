#include "model/nn/row_bounds.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/nn/row_bounds.cc"
#include <hwy/foreach_target.h>  // before all that includes highway.h

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

#include "model/nn/cosine_scorer.h"
#include "model/nn/simd.h"

HWY_BEFORE_NAMESPACE();
namespace semrank::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int kMaxCode = 15;
constexpr int kMiddleCode = (kMaxCode + 1) / 2;
// The least step of a split row. No row needs less, since its largest element
// is 64 units or more, and 8 would have the scale of 16 half units.
constexpr int kMinStep = 9;
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
// Split rows are prefetched this many rows ahead, into L2 (cosine_scorer.cc).
constexpr std::size_t kPrefetchRows = 32;
constexpr int kPrefetchIntoL2 = 2;
// Beyond it a score could leave the range of float32.
constexpr float kLargestIntegerScale = 0x1p60f;
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
// 2^23, and sums of four fit into 16 bits.
#if SEMRANK_HAVE_VECTORS
HWY_INLINE hn::Vec<decltype(kWide)> PairsOf(hn::Vec<decltype(kBytes)> codes,
                                            hn::Vec<decltype(kValues)> values) {
#if SEMRANK_SIMD_AVX512
  return hn::Vec<decltype(kWide)>{_mm512_maddubs_epi16(codes.raw, values.raw)};
#elif SEMRANK_SIMD_AVX2
  return hn::Vec<decltype(kWide)>{_mm256_maddubs_epi16(codes.raw, values.raw)};
#elif HWY_ARCH_X86
  return hn::Vec<decltype(kWide)>{_mm_maddubs_epi16(codes.raw, values.raw)};
#else
  const hn::Half<decltype(kBytes)> half_bytes;
  const hn::Half<decltype(kValues)> half_values;
  return hn::Add(
      hn::Mul(hn::PromoteTo(kWide, hn::LowerHalf(half_bytes, codes)),
              hn::PromoteTo(kWide, hn::LowerHalf(half_values, values))),
      hn::Mul(hn::PromoteTo(kWide, hn::UpperHalf(half_bytes, codes)),
              hn::PromoteTo(kWide, hn::UpperHalf(half_values, values))));
#endif
}

// Adds the products of a vector of bytes, each two codes, with the values for
// the codes in their lower and in their upper bits.
template <bool Vnni>
HWY_INLINE Sums AddProducts(Sums sums, hn::Vec<decltype(kBytes)> lower,
                            hn::Vec<decltype(kBytes)> upper,
                            hn::Vec<decltype(kValues)> of_lower,
                            hn::Vec<decltype(kValues)> of_upper) {
#if SEMRANK_SIMD_AVX512
  if constexpr (Vnni) {
    // An intrinsic would need the whole kernel compiled for a target that this
    // version of Highway does not have.
    asm("vpdpbusd %2, %1, %0"
        : "+v"(sums.raw)
        : "v"(lower.raw), "vm"(of_lower.raw));
    asm("vpdpbusd %2, %1, %0"
        : "+v"(sums.raw)
        : "v"(upper.raw), "vm"(of_upper.raw));
    return sums;
  }
#endif
  const auto pairs =
      hn::Add(PairsOf(lower, of_lower), PairsOf(upper, of_upper));
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
// Adds up the lanes of each row. Four rows at a time are transposed on the way,
// in blocks of four lanes, so that their sums lie side by side in the end.
template <int Rows>
HWY_INLINE void StoreSums(const Sums (&rows)[Rows], std::int32_t* sums) {
  const auto add_pairs = [](Sums a, Sums b) HWY_ATTR {
    return hn::BitCast(hn::RepartitionToWide<decltype(kSums)>(),
                       hn::Add(hn::InterleaveLower(kSums, a, b),
                               hn::InterleaveUpper(kSums, a, b)));
  };
  const hn::RepartitionToWide<decltype(kSums)> wide;
  simd::Unroll<Rows / 4>([&](auto i) HWY_ATTR {
    const auto first = add_pairs(rows[4 * i], rows[4 * i + 1]);
    const auto second = add_pairs(rows[4 * i + 2], rows[4 * i + 3]);
    const Sums all =
        hn::Add(hn::BitCast(kSums, hn::InterleaveLower(wide, first, second)),
                hn::BitCast(kSums, hn::InterleaveUpper(wide, first, second)));
    hn::StoreU(FoldBlocks(kSums, all), hn::Full128<std::int32_t>(),
               sums + 4 * i);
  });
  simd::Unroll<Rows % 4>([&](auto i) HWY_ATTR {
    constexpr int kFirst = Rows / 4 * 4;
    sums[kFirst + i] = hn::GetLane(hn::SumOfLanes(kSums, rows[kFirst + i]));
  });
}
#endif

// sums[q * stride + r] = the products of query q with the codes at row_at(r).
template <int Rows, int Queries, bool Vnni, typename RowAt>
void MultiplyCodes(const BoundQueryView* const* queries, RowAt row_at,
                   std::int32_t* sums, std::size_t stride) {
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
    const auto unpack = [&](auto r) HWY_ATTR {
      const auto bytes = load(row_at(r) + i);
      lower[r] = hn::And(bytes, half);
      upper[r] = hn::And(
          hn::BitCast(kBytes, hn::ShiftRight<4>(hn::BitCast(kPairs, bytes))),
          half);
    };
    if constexpr (Queries > 1) simd::Unroll<Rows>(unpack);
    simd::Unroll<Queries>([&](auto q) HWY_ATTR {
      const auto of_lower = hn::Load(kValues, queries[q]->values[0] + i);
      const auto of_upper = hn::Load(kValues, queries[q]->values[1] + i);
      simd::Unroll<Rows>([&](auto r) HWY_ATTR {
        // For one query just before their use, so that all stay in registers.
        if constexpr (Queries == 1) unpack(r);
        products[q][r] = AddProducts<Vnni>(products[q][r], lower[r], upper[r],
                                           of_lower, of_upper);
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
        const std::uint8_t byte = row_at(r)[i];
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

void SetCode(std::uint8_t* codes, std::size_t i, int code) {
  codes[i / 2] |= static_cast<std::uint8_t>(code << (i % 2 * 4));
}
int CodeAt(const std::uint8_t* codes, std::size_t i) {
  return codes[i / 2] >> (i % 2 * 4) & kMaxCode;
}

// `squares` is the sum of the squares of e.
RowScale ScaleOf(float scale, double length, double squares, std::size_t dim) {
  const double norm = length + std::sqrt(squares);
  // The rounding of float32 in the score's products and sums, and then in those
  // of the bound.
  const double rounding =
      norm * (static_cast<double>(dim) + 32) * kRounding + kSmallest;
  return {scale, UpperHalf(norm), UpperHalf(std::sqrt(squares) + rounding)};
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
void ScoreSplitRows(const BoundQueryView& query, const SplitRow* rows,
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
    ScoreSplitRows<true>(query, rows.data(), rows.size(), scores);
  } else {
    ScoreSplitRows<false>(query, rows.data(), rows.size(), scores);
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
HWY_EXPORT(Split);
HWY_EXPORT(JoinSplit);
HWY_EXPORT(ScoreSplit);

RowScale QuantizeRow(std::span<const float> row, std::uint8_t* codes) {
  return HWY_DYNAMIC_DISPATCH(Quantize)(row, codes);
}

RowScale SplitIntoCodes(std::span<const float> row, std::uint8_t* codes,
                        std::uint8_t* remainders) {
  return HWY_DYNAMIC_DISPATCH(Split)(row, codes, remainders);
}

void Join(const SplitRow& split, std::span<float> row) {
  HWY_DYNAMIC_DISPATCH(JoinSplit)(split, row);
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

void BoundQuery::Score(std::span<const float> row,
                       std::span<const SplitRow> rows,
                       std::span<float> scores) const {
  assert(rows.size() == scores.size());
  if (view_.is_int8) {
    HWY_DYNAMIC_DISPATCH(ScoreSplit)(view_, rows, scores.data());
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
