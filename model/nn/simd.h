// The widest float vectors of one instruction set, and a multiply-add that is
// always fused or, without FMA instructions, never: the compiler must not
// choose. Sources that use it are compiled with -ffp-contract=off, so equal
// inputs give equal bits in every loop of a level, main part or remainder.
//
//   Levels   Highway's foreach_target.h includes a source once for each of its
//            targets (simd_level.h), and this header with it, in a namespace of
//            its own: everything here is compiled as often. A lambda that uses
//            vectors is marked HWY_ATTR, or the compiler gives it the
//            instructions of every processor only.
//   Private to libraries with kernels; small inline functions.
#if defined(SEMRANK_MODEL_NN_SIMD_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMRANK_MODEL_NN_SIMD_H_
#undef SEMRANK_MODEL_NN_SIMD_H_
#else
#define SEMRANK_MODEL_NN_SIMD_H_
#endif

#include <hwy/highway.h>

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

// Highway's targets are bits; of one architecture the better one is lower.
#undef SEMRANK_SIMD_AVX512
#undef SEMRANK_SIMD_AVX2
#undef SEMRANK_SIMD_NEON
#define SEMRANK_SIMD_AVX512 (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3)
#define SEMRANK_SIMD_AVX2 (HWY_ARCH_X86 && HWY_TARGET == HWY_AVX2)
#define SEMRANK_SIMD_NEON (HWY_TARGET == HWY_NEON)

HWY_BEFORE_NAMESPACE();
namespace semrank::HWY_NAMESPACE::simd {

#if SEMRANK_SIMD_AVX512
inline constexpr int kVectorBytes = 64;
#elif SEMRANK_SIMD_AVX2
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

// Floats in a vector.
inline constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(float));

using Vec __attribute__((vector_size(kVectorBytes))) = float;
using IntVec __attribute__((vector_size(kVectorBytes))) = std::int32_t;

inline Vec Load(const float* from) {
  Vec value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

inline void Store(const Vec& value, float* to) {
  std::memcpy(to, &value, sizeof(value));
}

#if SEMRANK_SIMD_AVX512
inline __mmask16 FirstLanes(int count) {
  return static_cast<__mmask16>((1u << count) - 1);
}
#elif SEMRANK_SIMD_AVX2
inline __m256i FirstLanes(int count) {
  static constexpr std::int32_t kMasks[2 * kLanes] = {-1, -1, -1, -1,
                                                      -1, -1, -1, -1};
  return _mm256_loadu_si256(
      reinterpret_cast<const __m256i*>(kMasks + kLanes - count));
}
#endif

// Loads the first `count` lanes and sets the others to zero. Nothing beyond
// them is read.
inline Vec LoadPartial(const float* from, int count) {
  assert(0 <= count && count <= kLanes);
#if SEMRANK_SIMD_AVX512
  return static_cast<Vec>(_mm512_maskz_loadu_ps(FirstLanes(count), from));
#elif SEMRANK_SIMD_AVX2
  return static_cast<Vec>(_mm256_maskload_ps(from, FirstLanes(count)));
#else
  Vec value = {};
  std::memcpy(&value, from, static_cast<std::size_t>(count) * sizeof(float));
  return value;
#endif
}

// Stores the first `count` lanes; nothing beyond them is written.
inline void StorePartial(const Vec& value, float* to, int count) {
  assert(0 <= count && count <= kLanes);
#if SEMRANK_SIMD_AVX512
  _mm512_mask_storeu_ps(to, FirstLanes(count), value);
#elif SEMRANK_SIMD_AVX2
  // Masked stores take many cycles on AMD's processors.
  auto part = _mm256_castps256_ps128(value);
  if (count & 8) return Store(value, to);
  if (count & 4) {
    _mm_storeu_ps(to, part);
    part = _mm256_extractf128_ps(value, 1);
    to += 4;
  }
  if (count & 2) {
    _mm_storel_pi(reinterpret_cast<__m64*>(to), part);
    part = _mm_movehl_ps(part, part);
    to += 2;
  }
  if (count & 1) _mm_store_ss(to, part);
#else
  std::memcpy(to, &value, static_cast<std::size_t>(count) * sizeof(float));
#endif
}

// bfloat16 is the upper half of a float, so this is exact.
using Bf16 = std::uint16_t;
using HalfVec __attribute__((vector_size(kVectorBytes / 2))) = Bf16;
using UintVec __attribute__((vector_size(kVectorBytes))) = std::uint32_t;

inline Vec Widen(const HalfVec& halves) {
  const UintVec bits = __builtin_convertvector(halves, UintVec) << 16;
  Vec value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

inline Vec Load(const Bf16* from) {
  HalfVec halves;
  std::memcpy(&halves, from, sizeof(halves));
  return Widen(halves);
}

inline Vec LoadPartial(const Bf16* from, int count) {
  assert(0 <= count && count <= kLanes);
  HalfVec halves = {};
  std::memcpy(&halves, from, static_cast<std::size_t>(count) * sizeof(Bf16));
  return Widen(halves);
}

// Eight-bit integers, as floats.
inline Vec Load(const std::int8_t* from) {
#if SEMRANK_SIMD_AVX512
  return static_cast<Vec>(_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)))));
#elif SEMRANK_SIMD_AVX2
  return static_cast<Vec>(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(
      _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)))));
#else
  using ByteVec __attribute__((vector_size(kLanes))) = std::int8_t;
  ByteVec bytes;
  std::memcpy(&bytes, from, sizeof(bytes));
  return __builtin_convertvector(bytes, Vec);
#endif
}

inline Vec LoadPartial(const std::int8_t* from, int count) {
  assert(0 <= count && count <= kLanes);
  std::int8_t bytes[kLanes] = {};
  std::memcpy(bytes, from, static_cast<std::size_t>(count));
  return Load(bytes);
}

inline Vec Broadcast(float value) { return value - Vec{}; }

// Otherwise GCC folds a load into each instruction that uses the value, and the
// loads become the bottleneck.
inline void KeepInRegister(Vec& value) {
#if SEMRANK_SIMD_AVX512
  asm("" : "+v"(value));
#elif HWY_ARCH_X86
  asm("" : "+x"(value));
#else
  static_cast<void>(value);
#endif
}

inline Vec MultiplyAdd(Vec a, Vec b, Vec sum) {
#if SEMRANK_SIMD_AVX512
  return static_cast<Vec>(_mm512_fmadd_ps(a, b, sum));
#elif SEMRANK_SIMD_AVX2
  return static_cast<Vec>(_mm256_fmadd_ps(a, b, sum));
#elif SEMRANK_SIMD_NEON
  return static_cast<Vec>(vfmaq_f32(sum, a, b));
#else
  return a * b + sum;
#endif
}

// Calls function(0), ..., function(Count - 1) with compile-time constants. A
// loop over an array of vectors is unrolled too late by GCC: the array stays in
// memory instead of registers.
template <int Count, typename Function>
[[gnu::always_inline]] HWY_ATTR inline void Unroll(Function function) {
  [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline))
  HWY_ATTR {
    (function(std::integral_constant<int, I>()), ...);
  }
  (std::make_integer_sequence<int, Count>());
}

template <int Lanes>
struct Wide {
  using Type __attribute__((vector_size(Lanes * sizeof(float)))) = float;
};

// Adds the upper half of the lanes to the lower, until one is left.
template <int Lanes = kLanes>
inline float SumLanes(const typename Wide<Lanes>::Type& vector) {
  if constexpr (Lanes == 1) {
    return vector[0];
  } else {
    using Half = typename Wide<Lanes / 2>::Type;
    Half halves[2];
    std::memcpy(halves, &vector, sizeof(vector));
    return SumLanes<Lanes / 2>(halves[0] + halves[1]);
  }
}

}  // namespace semrank::HWY_NAMESPACE::simd
HWY_AFTER_NAMESPACE();

#endif  // per target
