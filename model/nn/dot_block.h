// Dot products of one vector with several at once: it is loaded once for all of
// them, and their additions hide each other's latency.
//
//   Private to model/nn. Each product is bitwise the same whatever Count is.
#ifndef SEMRANK_MODEL_NN_DOT_BLOCK_H_
#define SEMRANK_MODEL_NN_DOT_BLOCK_H_

#include <algorithm>

#include "model/nn/simd.h"

namespace semrank {

// results[i] = a . b[i], `width` floats each. Vector k of a row goes to sum k
// modulo kSums; the sums are added pairwise, then their lanes in halves.
template <int Count>
inline void DotBlock(const float* a, const float* const* b, int width,
                     float* results) {
  constexpr int kSums = 4;
  using simd::kLanes;
  using simd::Unroll;
  simd::Vec sums[Count][kSums];
  Unroll<Count * kSums>(
      [&](auto n) { sums[n / kSums][n % kSums] = simd::Vec{}; });
  int i = 0;
  for (; i + kSums * kLanes <= width; i += kSums * kLanes) {
    Unroll<kSums>([&](auto s) {
      const simd::Vec left = simd::Load(a + i + s * kLanes);
      Unroll<Count>([&](auto c) {
        sums[c][s] = simd::MultiplyAdd(left, simd::Load(b[c] + i + s * kLanes),
                                       sums[c][s]);
      });
    });
  }
  // The remainder: whole SIMD vectors and a partial one.
  if (i < width) {
    Unroll<kSums>([&](auto s) {
      const int lanes = std::clamp(width - i - s * kLanes, 0, kLanes);
      const int begin = std::min(i + s * kLanes, width);
      const simd::Vec left = simd::LoadPartial(a + begin, lanes);
      Unroll<Count>([&](auto c) {
        sums[c][s] = simd::MultiplyAdd(
            left, simd::LoadPartial(b[c] + begin, lanes), sums[c][s]);
      });
    });
  }
  Unroll<Count>([&](auto c) {
    results[c] =
        simd::SumLanes((sums[c][0] + sums[c][1]) + (sums[c][2] + sums[c][3]));
  });
}

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_DOT_BLOCK_H_
