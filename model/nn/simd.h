// The widest float vectors that the build's -march has, and the one operation
// that the compiler must not choose by itself: a multiply-add that is always
// fused, or (without FMA instructions) never. The sources that use it are
// compiled with -ffp-contract=off, so equal inputs give equal bits in every
// loop of a build, main part or remainder.
//
//   Private to model/nn: everything is inline and small.
#ifndef SEMRANK_MODEL_NN_SIMD_H_
#define SEMRANK_MODEL_NN_SIMD_H_

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__AVX512F__) || defined(__FMA__)
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

// The first `count` lanes from memory, zeros in the others.
inline Vec LoadPartial(const float* from, int count) {
  assert(0 <= count && count <= kLanes);
  Vec value = {};
  std::memcpy(&value, from, static_cast<std::size_t>(count) * sizeof(float));
  return value;
}

// The first `count` lanes to memory; nothing behind them is touched.
inline void StorePartial(const Vec& value, float* to, int count) {
  assert(0 <= count && count <= kLanes);
  std::memcpy(to, &value, static_cast<std::size_t>(count) * sizeof(float));
}

inline Vec Broadcast(float value) { return value - Vec{}; }

inline Vec MultiplyAdd(Vec a, Vec b, Vec sum) {
#if defined(__AVX512F__)
  return static_cast<Vec>(_mm512_fmadd_ps(a, b, sum));
#elif defined(__AVX__) && defined(__FMA__)
  return static_cast<Vec>(_mm256_fmadd_ps(a, b, sum));
#else
  return a * b + sum;
#endif
}

}  // namespace semrank::simd

#endif  // SEMRANK_MODEL_NN_SIMD_H_
