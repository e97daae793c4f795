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

// A block of columns is summed over the whole bag in registers: with AVX2 13 of
// 16, which makes three blocks of the 300 columns of the paper. With AVX-512
// 19 vectors hold the 300 columns of the paper's tower in one block, so each
// row is fetched from memory once.
constexpr int kMaxBlockVectors = simd::kVectorBytes == 64 ? 24 : 13;

constexpr int kCacheLineFloats = 16;

// The terms of one sum: rows of a table, each with its count, or rows anywhere
// in memory.
struct BagTerms {
  // Rows prefetched ahead of the one being added: enough to hide the latency of
  // the L3 cache, few enough not to evict the next ones from the L1 cache.
  static constexpr std::uint32_t kPrefetchRows = 4;
  static constexpr int kPrefetchLocality = 3;  // into L1

  const float* table;
  std::size_t width;
  const std::uint32_t* indices;
  const float* counts;

  const float* Row(std::uint32_t i) const { return table + indices[i] * width; }
  Vec Count(std::uint32_t i) const { return simd::Broadcast(counts[i]); }
  static Vec Add(const Vec& count, const Vec& row, const Vec& sum) {
    return simd::MultiplyAdd(count, row, sum);
  }
};

struct RowTerms {
  // These rows come from memory as often as from a cache. L2 waits for more
  // cache lines at once than L1 does, and that number bounds what memory
  // delivers: by way of L2 a row takes two thirds of the time.
  static constexpr std::uint32_t kPrefetchRows = 8;
  static constexpr int kPrefetchLocality = 2;  // into L2

  const float* const* rows;

  const float* Row(std::uint32_t i) const { return rows[i]; }
  Vec Count(std::uint32_t) const { return Vec{}; }
  static Vec Add(const Vec&, const Vec& row, const Vec& sum) {
    return sum + row;
  }
};

// Terms [0, size); up to num_readable those of later sums follow.
struct Range {
  std::uint32_t size;
  std::uint32_t num_readable;
};

// Columns [first, first + columns) of the terms; (Vectors - 1) * kLanes <
// columns <= Vectors * kLanes, and columns >= kLanes. The last vector ends with
// the last column and may overlap the previous one: both get the same bits
// there, and nothing beyond a row is read.
template <typename Terms, int Vectors>
void SumBlock(const Terms& terms, const Range& range, int first, int columns,
              float* sums) {
  const int last = columns - kLanes;
  // The loops over v must be unrolled, or the sums stay in memory. Without the
  // pragma GCC unrolls only up to 16 iterations.
  Vec block[Vectors] = {};
  for (std::uint32_t i = 0; i < range.size; ++i) {
    if (i + Terms::kPrefetchRows < range.num_readable) {
      const float* ahead = terms.Row(i + Terms::kPrefetchRows) + first;
#pragma GCC unroll 32
      for (int v = 0; v < Vectors * kLanes; v += kCacheLineFloats) {
        __builtin_prefetch(ahead + v, /*rw=*/0, Terms::kPrefetchLocality);
      }
    }
    const float* row = terms.Row(i) + first;
    const Vec count = terms.Count(i);
#pragma GCC unroll 32
    for (int v = 0; v < Vectors; ++v) {
      const int offset = v + 1 < Vectors ? v * kLanes : last;
      block[v] = Terms::Add(count, simd::Load(row + offset), block[v]);
    }
  }
#pragma GCC unroll 32
  for (int v = 0; v < Vectors; ++v) {
    const int offset = v + 1 < Vectors ? v * kLanes : last;
    simd::Store(block[v], sums + first + offset);
  }
}

template <typename Terms>
using BlockFunction = void (*)(const Terms&, const Range&, int, int, float*);

template <typename Terms, int... Vectors>
constexpr std::array<BlockFunction<Terms>, sizeof...(Vectors)> AllBlocks(
    std::integer_sequence<int, Vectors...>) {
  return {SumBlock<Terms, Vectors + 1>...};
}

// kBlocks<Terms>[vectors - 1].
template <typename Terms>
constexpr auto kBlocks =
    AllBlocks<Terms>(std::make_integer_sequence<int, kMaxBlockVectors>());

// For rows narrower than a SIMD vector.
template <typename Terms>
void SumNarrow(const Terms& terms, const Range& range, int width, float* sums) {
  Vec sum = {};
  for (std::uint32_t i = 0; i < range.size; ++i) {
    sum =
        Terms::Add(terms.Count(i), simd::LoadPartial(terms.Row(i), width), sum);
  }
  simd::StorePartial(sum, sums, width);
}

template <typename Terms>
void Sum(const Terms& terms, const Range& range, int width, float* sums) {
  if (width < kLanes) return SumNarrow(terms, range, width, sums);
  const int num_vectors = (width + kLanes - 1) / kLanes;
  const int num_blocks =
      (num_vectors + kMaxBlockVectors - 1) / kMaxBlockVectors;
  int column = 0;
  for (int b = 0; b < num_blocks; ++b) {
    const int vectors = (num_vectors + b) / num_blocks;
    const int columns = std::min(vectors * kLanes, width - column);
    kBlocks<Terms>[static_cast<std::size_t>(vectors - 1)](terms, range, column,
                                                          columns, sums);
    column += columns;
  }
}

// Sum i is of the terms that terms_at(offsets[i]) begins with.
template <typename TermsAt>
void SumEach(const std::uint32_t* offsets, int num_sums, TermsAt terms_at,
             int width, float* sums) {
  const std::uint32_t end = offsets[num_sums];
  for (int i = 0; i < num_sums; ++i) {
    const std::uint32_t begin = offsets[i];
    Sum(terms_at(begin), {offsets[i + 1] - begin, end - begin}, width,
        sums + static_cast<std::ptrdiff_t>(i) * width);
  }
}

void SumBagRange(const BagBatch& batch, int first, int last, const float* table,
                 int width, float* sums) {
  const auto terms_at = [&](std::uint32_t begin) {
    return BagTerms{table, static_cast<std::size_t>(width),
                    batch.indices.data() + begin, batch.counts.data() + begin};
  };
  SumEach(batch.offsets.data() + first, last - first, terms_at, width, sums);
}

void SumRowLists(const std::uint32_t* offsets, int num_sums,
                 const float* const* rows, int width, float* sums) {
  const auto terms_at = [&](std::uint32_t begin) {
    return RowTerms{rows + begin};
  };
  SumEach(offsets, num_sums, terms_at, width, sums);
}

}  // namespace
}  // namespace semrank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace semrank {

HWY_EXPORT(SumBagRange);
HWY_EXPORT(SumRowLists);

void SumBags(const BagBatch& batch, int first, int last, const float* table,
             int width, float* sums) {
  assert(0 <= first && first <= last && last <= batch.num_texts());
  assert(width > 0);
  HWY_DYNAMIC_DISPATCH(SumBagRange)(batch, first, last, table, width, sums);
}

void SumRows(std::span<const std::uint32_t> offsets, const float* const* rows,
             int width, float* sums) {
  assert(!offsets.empty() && width > 0);
  HWY_DYNAMIC_DISPATCH(SumRowLists)
  (offsets.data(), static_cast<int>(offsets.size()) - 1, rows, width, sums);
}

}  // namespace semrank
#endif  // HWY_ONCE
