#include "model/nn/cosine_scorer.h"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>

#include "model/nn/kernels.h"

namespace semrank {
namespace {

// Vectors are fetched from memory this many documents ahead.
constexpr std::size_t kPrefetchDocuments = 8;
constexpr int kCacheLineFloats = 16;

// Below this many keys a full sort is cheaper than finding the best ones.
constexpr std::size_t kMinBuffer = 2048;

// A key rises as the score falls, then as the index rises: the score's bits,
// made to rise with it as an unsigned number and inverted, above the index.
std::uint64_t ToKey(float score, std::size_t index) {
  // Adding zero makes -0 a +0, so that the two tie.
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(score + 0.0f);
  const std::uint32_t rising = (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
  return (std::uint64_t{~rising} << 32) | index;
}

std::uint32_t IndexOf(std::uint64_t key) {
  return static_cast<std::uint32_t>(key);
}

struct SortSpace {
  hwy::Sorter sort;
  std::vector<std::uint64_t> keys;
};

// Memory of one thread, kept from call to call.
SortSpace& ThisThreadsSpace() {
  thread_local SortSpace space;
  return space;
}

void Sort(SortSpace& space) {
  space.sort(space.keys.data(), space.keys.size(), hwy::SortAscending());
}

// The `top_k` smallest keys of `scores`, sorted, into space.keys. Gathers the
// keys that may still be among them and halves the gathering when it is full.
void SelectKeys(std::span<const float> scores, std::size_t top_k,
                SortSpace& space) {
  const std::size_t buffer =
      std::min(scores.size(), std::max(2 * top_k, kMinBuffer));
  std::vector<std::uint64_t>& keys = space.keys;
  keys.clear();
  keys.reserve(buffer);
  std::uint64_t limit = ~std::uint64_t{0};
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const std::uint64_t key = ToKey(scores[i], i);
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

}  // namespace

void ScoreDocuments(const float* query, std::span<const float* const> documents,
                    int dim, std::span<float> scores) {
  assert(documents.size() == scores.size());
  for (std::size_t i = 0; i < documents.size(); ++i) {
    if (i + kPrefetchDocuments < documents.size()) {
      const float* ahead = documents[i + kPrefetchDocuments];
      for (int d = 0; d < dim && ahead != nullptr; d += kCacheLineFloats) {
        __builtin_prefetch(ahead + d);
      }
    }
    if (documents[i] != nullptr) scores[i] = Dot(query, documents[i], dim);
  }
}

void ScoreMatrix(const float* query, const float* matrix, int dim,
                 std::span<float> scores) {
  for (std::size_t i = 0; i < scores.size(); ++i) {
    scores[i] = Dot(query, matrix + i * static_cast<std::size_t>(dim), dim);
  }
}

void RankScores(std::span<const float> scores, std::uint32_t top_k,
                std::vector<RankedDocument>& ranking) {
  const std::size_t size =
      top_k == 0 ? scores.size() : std::min<std::size_t>(top_k, scores.size());
  ranking.resize(size);
  if (size == 0) return;
  SortSpace& space = ThisThreadsSpace();
  SelectKeys(scores, size, space);
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint32_t index = IndexOf(space.keys[i]);
    ranking[i] = {index, scores[index]};
  }
}

}  // namespace semrank
