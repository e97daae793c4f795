#include "model/nn/cosine_scorer.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/nn/cosine_scorer.cc"
#include <hwy/contrib/sort/vqsort.h>
#include <hwy/foreach_target.h>  // before all that includes highway.h

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "model/nn/dot_block.h"

// Constants and types that the code of all levels shares.
#ifndef SEMRANK_MODEL_NN_COSINE_SCORER_SHARED_
#define SEMRANK_MODEL_NN_COSINE_SCORER_SHARED_
namespace semrank {
namespace {

struct SortSpace {
  hwy::Sorter sort;
  std::vector<std::int64_t> keys;
  std::vector<std::int64_t> sorted;
};

}  // namespace
}  // namespace semrank
#endif

HWY_BEFORE_NAMESPACE();
namespace semrank::HWY_NAMESPACE {
namespace {

// Documents scored together: four sums each and the query fill the registers.
constexpr int kBlockDocuments = 4;

// Vectors are prefetched this many documents ahead.
constexpr std::size_t kPrefetchDocuments = 16;
// Prefetches into L2, which supports more outstanding misses than L1. The
// latency from L2 to L1 overlaps with the products. For 1,000 rows in memory
// this takes 0.7 of the time of prefetching into L1 (Zen 4).
constexpr int kPrefetchIntoL2 = 2;
constexpr std::size_t kCacheLineBytes = 64;

// Up to this size comparing each key with all others is faster than VQSort,
// which draws random numbers for its pivots by a system call.
constexpr std::size_t kMaxCompared = 128;
// Keys that are counted together: one, two or four SIMD vectors.
constexpr std::size_t kComparedKeys = 8;

// Below this many keys a full sort is cheaper than finding the best ones.
constexpr std::size_t kMinBuffer = 2048;

// Sort key: ascending keys are descending scores, then ascending indices. The
// high half is the score's bits, mapped to an integer that is lower for a
// higher score; the low half is the index.
std::int64_t ToKey(float score, std::size_t index) {
  // The bits of a NaN are above those of infinity.
  if (std::isnan(score)) score = -std::numeric_limits<float>::infinity();
  // Adding zero turns -0 into +0, so that the two tie.
  const auto bits = std::bit_cast<std::uint32_t>(score + 0.0f);
  // This has no branch, as signs follow no pattern: positive scores get keys
  // below zero, negative ones from zero upwards.
  const auto negative =
      static_cast<std::uint32_t>(std::bit_cast<std::int32_t>(bits) >> 31);
  const std::uint32_t descending = bits ^ ~(negative >> 1);
  return static_cast<std::int64_t>(std::uint64_t{descending} << 32 | index);
}

std::uint32_t IndexOf(std::int64_t key) {
  return static_cast<std::uint32_t>(key);
}

// Puts each key where as many are smaller; no two are equal. Several keys are
// compared with one at a time: whole vectors of the list would be loaded as
// often, many of them across cache lines.
void SortByComparing(SortSpace& space) {
  const std::vector<std::int64_t>& keys = space.keys;
  space.sorted.resize(keys.size());
  for (std::size_t first = 0; first < keys.size(); first += kComparedKeys) {
    std::array<std::int64_t, kComparedKeys> some;
    std::array<std::int64_t, kComparedKeys> num_smaller = {};
    // Beyond the end the last key is repeated, which is then written to its own
    // place again.
    for (std::size_t i = 0; i < kComparedKeys; ++i) {
      some[i] = keys[std::min(first + i, keys.size() - 1)];
    }
    for (const std::int64_t other : keys) {
      for (std::size_t i = 0; i < kComparedKeys; ++i) {
        num_smaller[i] += other < some[i] ? 1 : 0;
      }
    }
    for (std::size_t i = 0; i < kComparedKeys; ++i) {
      space.sorted[static_cast<std::size_t>(num_smaller[i])] = some[i];
    }
  }
  space.keys.swap(space.sorted);
}

void Sort(SortSpace& space) {
  if (space.keys.size() <= kMaxCompared) return SortByComparing(space);
  space.sort(space.keys.data(), space.keys.size(), hwy::SortAscending());
}

// Writes the `top_k` smallest keys of `scores`, sorted, to space.keys. Collects
// candidates in a buffer; when it is full, sorts it and keeps the best top_k,
// whose last is the limit for further candidates.
void SelectKeys(std::span<const float> scores, std::size_t top_k,
                SortSpace& space) {
  const std::size_t buffer =
      std::min(scores.size(), std::max(2 * top_k, kMinBuffer));
  std::vector<std::int64_t>& keys = space.keys;
  keys.resize(buffer);
  for (std::size_t i = 0; i < buffer; ++i) keys[i] = ToKey(scores[i], i);
  std::int64_t limit = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = buffer; i < scores.size(); ++i) {
    const std::int64_t key = ToKey(scores[i], i);
    if (key > limit) continue;
    if (keys.size() == buffer) {
      Sort(space);
      keys.resize(top_k);
      limit = keys.back();
      if (key > limit) continue;
    }
    keys.push_back(key);
  }
  Sort(space);
  keys.resize(top_k);
}

void PrefetchLine(const std::byte* memory) {
  __builtin_prefetch(memory, /*rw=*/0, kPrefetchIntoL2);
}

// Prefetches four vectors as a whole.
void PrefetchBlock(const std::byte* const* rows, std::size_t num_bytes) {
  for (int r = 0; r < kBlockDocuments; ++r) {
    const auto offset =
        reinterpret_cast<std::uintptr_t>(rows[r]) % kCacheLineBytes;
    const std::byte* const line = rows[r] - offset;
    for (std::size_t i = 0; i < offset + num_bytes; i += kCacheLineBytes) {
      PrefetchLine(line + i);
    }
  }
}

// Prefetches one cache line of each of four vectors, while as much of four
// others is used.
struct PrefetchLines {
  const std::byte* const* rows;
  void operator()(int byte) const {
    simd::Unroll<kBlockDocuments>(
        [&](auto r) HWY_ATTR { PrefetchLine(rows[r] + byte); });
  }
};

// Without prefetches the rows are already in a cache. If prefetches of float32
// alternated with products, a product that waits for its row would keep the
// processor from the next prefetch: 1,000 rows of 1 KiB in memory take 1.4
// times as long then. Rows of bf16 have fewer lines and more instructions a
// line; they take 1.1 times as long if they are prefetched as a whole (Zen 4).
template <typename Row, bool Far>
void ScoreBlock(const float* query, const std::byte* const* rows,
                const std::byte* const* ahead, int dim, float* scores) {
  if constexpr (Far && !std::is_same_v<Row, float>) {
    DotBlock<kBlockDocuments, Row>(query, rows, dim, scores,
                                   PrefetchLines{ahead});
    return;
  }
  if (Far) PrefetchBlock(ahead, static_cast<std::size_t>(dim) * sizeof(Row));
  DotBlock<kBlockDocuments, Row>(query, rows, dim, scores);
}

template <typename Row, bool Far>
void ScoreMatrixOf(const float* query, const std::byte* matrix,
                   RowFormat format, std::span<float> scores) {
  const std::size_t stride = format.num_bytes();
  std::size_t i = 0;
  for (; i + kBlockDocuments <= scores.size(); i += kBlockDocuments) {
    const std::byte* block[kBlockDocuments];
    const std::byte* ahead[kBlockDocuments];
    for (int d = 0; d < kBlockDocuments; ++d) {
      block[d] = matrix + (i + d) * stride;
      ahead[d] = block[d] + kPrefetchDocuments * stride;
    }
    ScoreBlock<Row, Far>(query, block, ahead, format.dim, &scores[i]);
  }
  for (; i < scores.size(); ++i) {
    const std::byte* const row = matrix + i * stride;
    DotBlock<1, Row>(query, &row, format.dim, &scores[i]);
  }
}

template <typename Row, bool Far>
void ScoreRowsOf(const float* query, std::span<const std::byte* const> rows,
                 int dim, std::span<float> scores) {
  std::size_t i = 0;
  for (; i + kBlockDocuments <= rows.size(); i += kBlockDocuments) {
    const std::size_t ahead = i + kPrefetchDocuments;
    if (Far && ahead + kBlockDocuments <= rows.size()) {
      ScoreBlock<Row, true>(query, &rows[i], &rows[ahead], dim, &scores[i]);
    } else {
      ScoreBlock<Row, false>(query, &rows[i], nullptr, dim, &scores[i]);
    }
  }
  static_assert(kBlockDocuments == 4);
  switch (rows.size() - i) {
    case 3:
      return DotBlock<3, Row>(query, &rows[i], dim, &scores[i]);
    case 2:
      return DotBlock<2, Row>(query, &rows[i], dim, &scores[i]);
    case 1:
      return DotBlock<1, Row>(query, &rows[i], dim, &scores[i]);
    default:
      return;
  }
}

template <bool Far>
void ScoreRows(const float* query, std::span<const std::byte* const> rows,
               RowFormat format, std::span<float> scores) {
  switch (format.precision) {
    case VectorPrecision::kFloat32:
      return ScoreRowsOf<float, Far>(query, rows, format.dim, scores);
    case VectorPrecision::kBf16:
      return ScoreRowsOf<simd::Bf16, Far>(query, rows, format.dim, scores);
    case VectorPrecision::kInt8:
      return ScoreRowsOf<std::int8_t, Far>(query, rows, format.dim, scores);
  }
}

void ScoreFar(const float* query, std::span<const std::byte* const> rows,
              RowFormat format, std::span<float> scores) {
  ScoreRows<true>(query, rows, format, scores);
}

void ScoreNear(const float* query, std::span<const std::byte* const> rows,
               RowFormat format, std::span<float> scores) {
  ScoreRows<false>(query, rows, format, scores);
}

void ScoreNearMatrix(const float* query, const float* matrix, int dim,
                     std::span<float> scores) {
  ScoreMatrixOf<float, false>(query, reinterpret_cast<const std::byte*>(matrix),
                              {dim}, scores);
}

void ScoreMatrixFar(const float* query, const std::byte* matrix,
                    RowFormat format, std::span<float> scores) {
  switch (format.precision) {
    case VectorPrecision::kFloat32:
      return ScoreMatrixOf<float, true>(query, matrix, format, scores);
    case VectorPrecision::kBf16:
      return ScoreMatrixOf<simd::Bf16, true>(query, matrix, format, scores);
    case VectorPrecision::kInt8:
      return ScoreMatrixOf<std::int8_t, true>(query, matrix, format, scores);
  }
}

void WriteRanking(std::span<const float> scores, SortSpace& space,
                  std::vector<RankedDocument>& ranking) {
  const std::size_t size = ranking.size();
  SelectKeys(scores, size, space);
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint32_t index = IndexOf(space.keys[i]);
    ranking[i] = {index, scores[index]};
  }
}

}  // namespace
}  // namespace semrank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace semrank {

HWY_EXPORT(ScoreFar);
HWY_EXPORT(ScoreNear);
HWY_EXPORT(ScoreNearMatrix);
HWY_EXPORT(ScoreMatrixFar);
HWY_EXPORT(WriteRanking);

void ScoreDocuments(const float* query, std::span<const std::byte* const> rows,
                    RowFormat format, std::span<float> scores) {
  assert(rows.size() == scores.size());
  HWY_DYNAMIC_DISPATCH(ScoreFar)(query, rows, format, scores);
}

void ScoreNearDocuments(const float* query,
                        std::span<const std::byte* const> rows,
                        RowFormat format, std::span<float> scores) {
  assert(rows.size() == scores.size());
  HWY_DYNAMIC_DISPATCH(ScoreNear)(query, rows, format, scores);
}

void ScoreMatrix(const float* query, const float* matrix, int dim,
                 std::span<float> scores) {
  HWY_DYNAMIC_DISPATCH(ScoreNearMatrix)(query, matrix, dim, scores);
}

void ScoreFarMatrix(const float* query, const std::byte* matrix,
                    RowFormat format, std::span<float> scores) {
  HWY_DYNAMIC_DISPATCH(ScoreMatrixFar)(query, matrix, format, scores);
}

void RankScores(std::span<const float> scores, std::uint32_t top_k,
                std::vector<RankedDocument>& ranking) {
  ranking.resize(top_k == 0 ? scores.size()
                            : std::min<std::size_t>(top_k, scores.size()));
  if (ranking.empty()) return;
  // Memory of this thread, reused between calls.
  thread_local SortSpace space;
  HWY_DYNAMIC_DISPATCH(WriteRanking)(scores, space, ranking);
}

}  // namespace semrank
#endif  // HWY_ONCE
