#include "model/nn/max_pool.h"

#include <cassert>
#include <cstddef>
#include <cstring>

#include "model/nn/simd.h"

namespace semrank {
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
  // What place p of window t adds, from `column` on.
  const float* Place(int t, int p, int column) const {
    const std::size_t row =
        std::size_t{padded[static_cast<std::size_t>(t + p)]} *
            static_cast<std::size_t>(window) +
        static_cast<std::size_t>(p);
    return sums + row * static_cast<std::size_t>(width) + column;
  }
};

// Loads a SIMD vector of columns, of which the first `count` exist; all if
// kFull.
template <bool kFull>
Vec LoadColumns(const float* from, int count) {
  if constexpr (kFull) return simd::Load(from);
  return simd::LoadPartial(from, count);
}

template <typename Values>
void StoreLanes(const Values& values, int count, void* to) {
  std::memcpy(to, &values, static_cast<std::size_t>(count) * sizeof(float));
}

template <int Vectors>
struct Columns {
  Vec v[Vectors];
};

template <int Vectors, bool kFull>
Columns<Vectors> SumWindow(const Text& text, int t, int column, int count) {
  Columns<Vectors> sum = {};
  const float* from = text.Place(t, 0, column);
#pragma GCC unroll 8
  for (int v = 0; v < Vectors; ++v) {
    sum.v[v] = LoadColumns<kFull>(from + v * kLanes, count);
  }
  for (int p = 1; p < text.window; ++p) {
    from = text.Place(t, p, column);
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) {
      sum.v[v] += LoadColumns<kFull>(from + v * kLanes, count);
    }
  }
  return sum;
}

// Pools `Vectors` SIMD vectors of columns; without kFull one vector of `count`.
template <int Vectors, bool kFull>
void PoolColumns(const Text& text, int column, int count, float* maxima,
                 std::int32_t* winners) {
  Columns<Vectors> best = SumWindow<Vectors, kFull>(text, 0, column, count);
  IntVec winner[Vectors] = {};
  for (int t = 1; t < text.num_windows(); ++t) {
    const Columns<Vectors> sum =
        SumWindow<Vectors, kFull>(text, t, column, count);
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) {
      // A NaN replaces the maximum and is then kept.
      const IntVec better = ~(sum.v[v] <= best.v[v]) & (best.v[v] == best.v[v]);
      best.v[v] = better ? sum.v[v] : best.v[v];
      winner[v] = better ? IntVec{} + t : winner[v];
    }
  }
  for (int v = 0; v < Vectors; ++v) {
    StoreLanes(best.v[v], count, maxima + column + v * kLanes);
    if (winners == nullptr) continue;
    StoreLanes(winner[v], count, winners + column + v * kLanes);
  }
}

}  // namespace

void MaxPoolWindows(const float* sums, std::span<const std::uint32_t> padded,
                    int window, int width, float* maxima,
                    std::int32_t* winners) {
  assert(window > 0 && padded.size() >= static_cast<std::size_t>(window));
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

}  // namespace semrank
