// Products of rows in 4-bit codes with queries (row_codes.h). row_bounds.cc
// computes bounds of them, split_rows.cc exact scores.
//
//   Kernel   MultiplyCodes unpacks each byte of a row into two codes, and
//            multiplies them with two values of each query in 8 bits. Sums are
//            integers, so they are the same at each level and in any order.
//   Shapes   a row has `num_bytes` bytes, a query as many values for the lower
//            codes of the bytes and as many for the upper ones.
//   Private to model/nn, compiled once per level (simd.h).
#if defined(SEMRANK_MODEL_NN_CODE_PRODUCTS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMRANK_MODEL_NN_CODE_PRODUCTS_H_
#undef SEMRANK_MODEL_NN_CODE_PRODUCTS_H_
#else
#define SEMRANK_MODEL_NN_CODE_PRODUCTS_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "model/nn/row_codes.h"
#include "model/nn/simd.h"

HWY_BEFORE_NAMESPACE();
namespace semrank::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Rows and queries whose products are summed together: as many sums as fit into
// the registers of AVX-512 beside what they are multiplied from.
inline constexpr int kBlockQueries = 4;
inline constexpr int kBlockRows = 4;
inline constexpr std::size_t kCacheLineBytes = 64;

inline constexpr hn::ScalableTag<float> kFloats;
inline constexpr hn::ScalableTag<std::int32_t> kSums;
inline constexpr hn::ScalableTag<std::uint32_t> kBits;
inline constexpr hn::ScalableTag<std::int16_t> kWide;
inline constexpr hn::ScalableTag<std::uint16_t> kPairs;
inline constexpr hn::ScalableTag<std::uint8_t> kBytes;
inline constexpr hn::ScalableTag<std::int8_t> kValues;
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

inline bool HasVnni() {
#if SEMRANK_SIMD_AVX512
  static const bool has_vnni = __builtin_cpu_supports("avx512vnni");
  return has_vnni;
#else
  return false;
#endif
}

}  // namespace semrank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
