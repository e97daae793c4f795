// The widest float vectors of the build's -march, and a multiply-add that is
// always fused or, without FMA instructions, never: the compiler must not
// choose. Sources that use it are compiled with -ffp-contract=off, so equal
// inputs give equal bits in every loop of a build, main part or remainder.
//
//   Private to model/nn; small inline functions.
#ifndef SEMRANK_MODEL_NN_SIMD_H_
#define SEMRANK_MODEL_NN_SIMD_H_

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace semrank::simd {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
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

#if defined(__AVX512F__)
inline __mmask16 FirstLanes(int count) {
  return static_cast<__mmask16>((1u << count) - 1);
}
#elif defined(__AVX__)
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
#if defined(__AVX512F__)
  return static_cast<Vec>(_mm512_maskz_loadu_ps(FirstLanes(count), from));
#elif defined(__AVX__)
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
#if defined(__AVX512F__)
  _mm512_mask_storeu_ps(to, FirstLanes(count), value);
#elif defined(__AVX__)
  _mm256_maskstore_ps(to, FirstLanes(count), value);
#else
  std::memcpy(to, &value, static_cast<std::size_t>(count) * sizeof(float));
#endif
}

inline Vec Broadcast(float value) { return value - Vec{}; }

// Without it GCC folds a load into each instruction that uses the value, and
// the loads become the bottleneck.
inline void KeepInRegister(Vec& value) {
#if defined(__AVX512F__)
  asm("" : "+v"(value));
#elif defined(__x86_64__)
  asm("" : "+x"(value));
#else
  static_cast<void>(value);
#endif
}

inline Vec MultiplyAdd(Vec a, Vec b, Vec sum) {
#if defined(__AVX512F__)
  return static_cast<Vec>(_mm512_fmadd_ps(a, b, sum));
#elif defined(__AVX__) && defined(__FMA__)
  return static_cast<Vec>(_mm256_fmadd_ps(a, b, sum));
#else
  return a * b + sum;
#endif
}

// Calls function(0), ..., function(Count - 1) with compile-time constants. A
// loop over an array of vectors is unrolled too late by GCC: the array stays in
// memory instead of registers.
template <int Count, typename Function>
[[gnu::always_inline]] inline void Unroll(Function function) {
  [&]<int... I>(std::integer_sequence<int, I...>)
      __attribute__((always_inline)) {
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

}  // namespace semrank::simd

#endif  // SEMRANK_MODEL_NN_SIMD_H_
