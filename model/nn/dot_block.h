// Dot products of one vector with several at once: it is loaded once for all of
// them, and their additions hide each other's latency.
//
//   Private to model/nn, compiled once per level (simd.h). Each product is
//   bitwise the same whatever Count is.
#if defined(SEMRANK_MODEL_NN_DOT_BLOCK_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMRANK_MODEL_NN_DOT_BLOCK_H_
#undef SEMRANK_MODEL_NN_DOT_BLOCK_H_
#else
#define SEMRANK_MODEL_NN_DOT_BLOCK_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "model/nn/row_format.h"
#include "model/nn/simd.h"

HWY_BEFORE_NAMESPACE();
namespace semrank::HWY_NAMESPACE {

struct NoPrefetch {
  void operator()(int /*byte*/) const {}
};

// results[i] = a . b[i], `width` elements each; those of b[i] are of type Row:
// float, simd::Bf16, or std::int8_t after their scale (row_format.h). Vector k
// of a row goes to sum k modulo kSums; the sums are added pairwise, then their
// lanes in halves. Before the bytes of a row from `byte` on are read,
// prefetch(byte) is called: once for each cache line, or more often.
template <int Count, typename Row, typename Prefetch = NoPrefetch>
inline void DotBlock(const float* a, const std::byte* const* b, int width,
                     float* results, Prefetch prefetch = {}) {
  constexpr int kSums = 4;
  constexpr int kLineBytes = 64;
  constexpr int kRowBytes = static_cast<int>(sizeof(Row));
  constexpr bool kScaled = std::is_same_v<Row, std::int8_t>;
  constexpr int kHeaderBytes = kScaled ? kInt8ScaleBytes : 0;
  constexpr int kStepLines =
      std::max(1, kSums * simd::kLanes * kRowBytes / kLineBytes);
  const auto at = [](const std::byte* row, int element) HWY_ATTR {
    return reinterpret_cast<const Row*>(row + kHeaderBytes) + element;
  };
  using simd::kLanes;
  using simd::Unroll;
  simd::Vec sums[Count][kSums];
  Unroll<Count * kSums>(
      [&](auto n) HWY_ATTR { sums[n / kSums][n % kSums] = simd::Vec{}; });
  int i = 0;
  for (; i + kSums * kLanes <= width; i += kSums * kLanes) {
    Unroll<kStepLines>(
        [&](auto n) HWY_ATTR { prefetch(i * kRowBytes + n * kLineBytes); });
    Unroll<kSums>([&](auto s) HWY_ATTR {
      const simd::Vec left = simd::Load(a + i + s * kLanes);
      Unroll<Count>([&](auto c) HWY_ATTR {
        sums[c][s] = simd::MultiplyAdd(
            left, simd::Load(at(b[c], i + s * kLanes)), sums[c][s]);
      });
    });
  }
  // The remainder: whole SIMD vectors and a partial one.
  if (i < width) {
    for (int byte = i * kRowBytes; byte < width * kRowBytes;
         byte += kLineBytes) {
      prefetch(byte);
    }
    Unroll<kSums>([&](auto s) HWY_ATTR {
      const int lanes = std::clamp(width - i - s * kLanes, 0, kLanes);
      const int begin = std::min(i + s * kLanes, width);
      const simd::Vec left = simd::LoadPartial(a + begin, lanes);
      Unroll<Count>([&](auto c) HWY_ATTR {
        sums[c][s] = simd::MultiplyAdd(
            left, simd::LoadPartial(at(b[c], begin), lanes), sums[c][s]);
      });
    });
  }
  if constexpr (kScaled) prefetch(width + kHeaderBytes - 1);
  Unroll<Count>([&](auto c) HWY_ATTR {
    results[c] =
        simd::SumLanes((sums[c][0] + sums[c][1]) + (sums[c][2] + sums[c][3]));
    if constexpr (kScaled) {
      float scale;
      std::memcpy(&scale, b[c], sizeof(scale));
      results[c] *= scale;
    }
  });
}

}  // namespace semrank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
