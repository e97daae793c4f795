#include "model/nn/max_pool.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/nn/max_pool.cc"
#include <hwy/foreach_target.h>  // before all that includes highway.h

#include <cassert>
#include <cstddef>
#include <cstring>

#include "model/nn/simd.h"

HWY_BEFORE_NAMESPACE();
namespace semrank::HWY_NAMESPACE {
namespace {

using simd::IntVec;
using simd::kLanes;
using simd::Vec;

// SIMD vectors of columns that stay in registers over the whole text.
constexpr int kBlockVectors = 4;

struct Text {
  const float* sums;
  std::span<const std::uint32_t> padded;
  int window;
  int width;

  int num_windows() const {
    return static_cast<int>(padded.size()) - window + 1;
  }
  // The vector that place p of window t adds, from `column` on.
  const float* Place(int t, int p, int column) const {
    const std::size_t row =
        std::size_t{
            padded[static_cast<std::size_t>(t) + static_cast<std::size_t>(p)]} *
            static_cast<std::size_t>(window) +
        static_cast<std::size_t>(p);
    return sums + row * static_cast<std::size_t>(width) + column;
  }
};

// Loads a SIMD vector of columns, of which the first `count` exist; all
// if kFull.
template <bool kFull>
Vec LoadColumns(const float* from, int count) {
  if constexpr (kFull) return simd::Load(from);
  return simd::LoadPartial(from, count);
}

template <typename Values>
void StoreLanes(const Values& values, int count, void* to) {
  std::memcpy(to, &values, static_cast<std::size_t>(count) * sizeof(float));
}

// Into an array of the caller: of a struct of vectors that is returned GCC 12
// at -O2 loses the upper halves, if the vectors are wider than the program's.
template <int Vectors, bool kFull>
void SumWindow(const Text& text, int t, int column, int count,
               Vec (&sum)[Vectors]) {
  const float* from = text.Place(t, 0, column);
#pragma GCC unroll 8
  for (int v = 0; v < Vectors; ++v) {
    sum[v] = LoadColumns<kFull>(from + v * kLanes, count);
  }
  for (int p = 1; p < text.window; ++p) {
    from = text.Place(t, p, column);
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) {
      sum[v] += LoadColumns<kFull>(from + v * kLanes, count);
    }
  }
}

// Pools `Vectors` SIMD vectors of columns; without kFull one vector of `count`.
template <int Vectors, bool kFull>
void PoolColumns(const Text& text, int column, int count, float* maxima,
                 std::int32_t* winners) {
  Vec best[Vectors];
  SumWindow<Vectors, kFull>(text, 0, column, count, best);
  IntVec winner[Vectors] = {};
  for (int t = 1; t < text.num_windows(); ++t) {
    Vec sum[Vectors];
    SumWindow<Vectors, kFull>(text, t, column, count, sum);
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) {
      // A NaN replaces the maximum and is then kept.
      const IntVec better = ~(sum[v] <= best[v]) & (best[v] == best[v]);
      best[v] = better ? sum[v] : best[v];
      winner[v] = better ? IntVec{} + t : winner[v];
    }
  }
  for (int v = 0; v < Vectors; ++v) {
    StoreLanes(best[v], count, maxima + column + v * kLanes);
    if (winners == nullptr) continue;
    StoreLanes(winner[v], count, winners + column + v * kLanes);
  }
}

void PoolText(const float* sums, std::span<const std::uint32_t> padded,
              int window, int width, float* maxima, std::int32_t* winners) {
  const Text text = {sums, padded, window, width};
  int column = 0;
  for (; column + kBlockVectors * kLanes <= width;
       column += kBlockVectors * kLanes) {
    PoolColumns<kBlockVectors, true>(text, column, kLanes, maxima, winners);
  }
  for (; column + kLanes <= width; column += kLanes) {
    PoolColumns<1, true>(text, column, kLanes, maxima, winners);
  }
  if (column < width) {
    PoolColumns<1, false>(text, column, width - column, maxima, winners);
  }
}

}  // namespace
}  // namespace semrank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace semrank {

HWY_EXPORT(PoolText);

void MaxPoolWindows(const float* sums, std::span<const std::uint32_t> padded,
                    int window, int width, float* maxima,
                    std::int32_t* winners) {
  assert(window > 0 && padded.size() >= static_cast<std::size_t>(window));
  HWY_DYNAMIC_DISPATCH(PoolText)
  (sums, padded, window, width, maxima, winners);
}

}  // namespace semrank
#endif  // HWY_ONCE
