#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/nn/sum_bags.cc"
#include <hwy/foreach_target.h>  // before all that includes highway.h

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "model/nn/kernels.h"
#include "model/nn/simd.h"

HWY_BEFORE_NAMESPACE();
namespace semrank::HWY_NAMESPACE {
namespace {

using simd::kLanes;
using simd::Vec;

// A block of columns is summed over the whole bag in registers. With AVX-512
// 19 vectors hold the 300 columns of the paper's tower in one block, so each
// row is fetched from memory once.
constexpr int kMaxBlockVectors = simd::kVectorBytes == 64 ? 24 : 12;

// Rows prefetched ahead of the one being added: enough to hide memory latency,
// few enough not to evict the next ones from the L1 cache.
constexpr std::uint32_t kPrefetchRows = 4;
constexpr int kCacheLineFloats = 16;

struct Bag {
  const std::uint32_t* indices;
  const float* counts;
  std::uint32_t size;
  std::uint32_t num_readable;  // entries of this bag and later ones
};

const float* Row(const float* table, std::uint32_t index, int width) {
  return table +
         static_cast<std::size_t>(index) * static_cast<std::size_t>(width);
}

// Columns [0, columns) of `table` and `sums`; (Vectors - 1) * kLanes < columns
// <= Vectors * kLanes, and columns >= kLanes. The last vector ends with the
// last column and may overlap the previous one: both get the same bits there,
// and nothing beyond a row is read.
template <int Vectors>
void SumBlock(const Bag& bag, const float* table, int width, int columns,
              float* sums) {
  const int last = columns - kLanes;
  // The loops over v must be unrolled, or the sums stay in memory. Without the
  // pragma GCC unrolls only up to 16 iterations.
  Vec block[Vectors] = {};
  for (std::uint32_t i = 0; i < bag.size; ++i) {
    if (i + kPrefetchRows < bag.num_readable) {
      const float* ahead = Row(table, bag.indices[i + kPrefetchRows], width);
#pragma GCC unroll 32
      for (int v = 0; v < Vectors * kLanes; v += kCacheLineFloats) {
        __builtin_prefetch(ahead + v);
      }
    }
    const float* row = Row(table, bag.indices[i], width);
    const Vec count = simd::Broadcast(bag.counts[i]);
#pragma GCC unroll 32
    for (int v = 0; v < Vectors; ++v) {
      const int offset = v + 1 < Vectors ? v * kLanes : last;
      block[v] = simd::MultiplyAdd(count, simd::Load(row + offset), block[v]);
    }
  }
#pragma GCC unroll 32
  for (int v = 0; v < Vectors; ++v) {
    simd::Store(block[v], sums + (v + 1 < Vectors ? v * kLanes : last));
  }
}

using BlockFunction = void (*)(const Bag&, const float*, int, int, float*);

template <int... Vectors>
constexpr std::array<BlockFunction, sizeof...(Vectors)> AllBlocks(
    std::integer_sequence<int, Vectors...>) {
  return {SumBlock<Vectors + 1>...};
}

// kBlocks[vectors - 1].
constexpr auto kBlocks =
    AllBlocks(std::make_integer_sequence<int, kMaxBlockVectors>());

// For rows narrower than a SIMD vector.
void SumNarrow(const Bag& bag, const float* table, int width, float* sums) {
  Vec sum = {};
  for (std::uint32_t i = 0; i < bag.size; ++i) {
    const float* row = Row(table, bag.indices[i], width);
    sum = simd::MultiplyAdd(simd::Broadcast(bag.counts[i]),
                            simd::LoadPartial(row, width), sum);
  }
  simd::StorePartial(sum, sums, width);
}

void SumBag(const Bag& bag, const float* table, int width, float* sums) {
  if (width < kLanes) return SumNarrow(bag, table, width, sums);
  const int num_vectors = (width + kLanes - 1) / kLanes;
  const int num_blocks =
      (num_vectors + kMaxBlockVectors - 1) / kMaxBlockVectors;
  int column = 0;
  for (int b = 0; b < num_blocks; ++b) {
    const int vectors = (num_vectors + b) / num_blocks;
    const int columns = std::min(vectors * kLanes, width - column);
    kBlocks[static_cast<std::size_t>(vectors - 1)](bag, table + column, width,
                                                   columns, sums + column);
    column += columns;
  }
}

void SumBagRange(const BagBatch& batch, int first, int last, const float* table,
                 int width, float* sums) {
  const std::uint32_t* offsets = batch.offsets.data();
  const std::uint32_t end = offsets[last];
  for (int t = first; t < last; ++t) {
    const std::uint32_t begin = offsets[t];
    const Bag bag = {batch.indices.data() + begin, batch.counts.data() + begin,
                     offsets[t + 1] - begin, end - begin};
    SumBag(bag, table, width,
           sums + static_cast<std::ptrdiff_t>(t - first) * width);
  }
}

}  // namespace
}  // namespace semrank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace semrank {

HWY_EXPORT(SumBagRange);

void SumBags(const BagBatch& batch, int first, int last, const float* table,
             int width, float* sums) {
  assert(0 <= first && first <= last && last <= batch.num_texts());
  assert(width > 0);
  HWY_DYNAMIC_DISPATCH(SumBagRange)(batch, first, last, table, width, sums);
}

}  // namespace semrank
#endif  // HWY_ONCE
