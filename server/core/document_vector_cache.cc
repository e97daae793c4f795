#include "server/core/document_vector_cache.h"

#include <algorithm>
#include <array>
#include <utility>

#include "model/base/status_macros.h"

namespace semrank {
namespace {

constexpr std::size_t kMaxShards = 16;
// A shard below this evicts by chance of hashing more than by age.
constexpr std::size_t kMinShardBytes = std::size_t{1} << 20;
constexpr int kMaxGroup = 64;
constexpr std::size_t kCacheLineBytes = 64;

void PrefetchVector(const float* vector, int dim) {
  const char* const begin = reinterpret_cast<const char*>(vector);
  for (std::size_t i = 0; i < dim * sizeof(float); i += kCacheLineBytes) {
    __builtin_prefetch(begin + i);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<DocumentVectorCache>>
DocumentVectorCache::Create(std::size_t capacity_bytes) {
  std::unique_ptr<DocumentVectorCache> cache(new DocumentVectorCache);
  if (capacity_bytes == 0) return cache;
  const std::size_t num_shards =
      std::clamp<std::size_t>(capacity_bytes / kMinShardBytes, 1, kMaxShards);
  for (std::size_t i = 0; i < num_shards; ++i) {
    auto shard = std::make_unique<Shard>();
    MutexLock lock(shard->mutex);
    SEMRANK_ASSIGN_OR_RETURN(shard->ring,
                             VectorRing::Create(capacity_bytes / num_shards));
    cache->shards_.push_back(std::move(shard));
  }
  return cache;
}

// Calls visit(shard, positions) for keys that share a shard, at most kMaxGroup
// at a time: a batch takes each lock once, and no lock for long.
template <typename Visit>
void DocumentVectorCache::ForEachShardGroup(std::span<const VectorKey> keys,
                                            Visit visit) {
  std::array<std::uint32_t, kMaxGroup> group;
  for (std::size_t s = 0; s < shards_.size(); ++s) {
    std::size_t size = 0;
    for (std::uint32_t i = 0; i < keys.size(); ++i) {
      if (keys[i].text.hi % shards_.size() != s) continue;
      group[size++] = i;
      if (size == group.size()) {
        visit(*shards_[s], std::span<const std::uint32_t>(group));
        size = 0;
      }
    }
    if (size > 0) {
      visit(*shards_[s], std::span<const std::uint32_t>(group).first(size));
    }
  }
}

int DocumentVectorCache::Find(std::span<const VectorKey> keys, int dim,
                              float* rows, std::span<std::uint8_t> found) {
  int num_found = 0;
  std::ranges::fill(found, std::uint8_t{0});
  ForEachShardGroup(
      keys, [&](Shard& shard, std::span<const std::uint32_t> positions) {
        // Three passes, so that the misses of the processor's caches overlap.
        std::array<const float*, kMaxGroup> vectors;
        MutexLock lock(shard.mutex);
        for (const std::uint32_t i : positions) shard.ring->Prefetch(keys[i]);
        for (std::size_t p = 0; p < positions.size(); ++p) {
          vectors[p] = shard.ring->Find(keys[positions[p]]);
          if (vectors[p] != nullptr) PrefetchVector(vectors[p], dim);
        }
        for (std::size_t p = 0; p < positions.size(); ++p) {
          if (vectors[p] == nullptr) continue;
          std::copy_n(vectors[p], dim, rows + std::size_t{positions[p]} * dim);
          found[positions[p]] = 1;
          ++num_found;
        }
      });
  return num_found;
}

void DocumentVectorCache::Insert(std::span<const VectorKey> keys, int dim,
                                 const float* rows) {
  ForEachShardGroup(
      keys, [&](Shard& shard, std::span<const std::uint32_t> positions) {
        MutexLock lock(shard.mutex);
        for (const std::uint32_t i : positions) {
          shard.ring->Insert(keys[i], std::span<const float>(
                                          rows + std::size_t{i} * dim, dim));
        }
      });
}

void DocumentVectorCache::DropModelsExcept(
    std::span<const std::uint32_t> models) {
  for (const std::unique_ptr<Shard>& shard : shards_) {
    MutexLock lock(shard->mutex);
    shard->ring->DropModelsExcept(models);
  }
}

DocumentVectorCache::Stats DocumentVectorCache::GetStats() const {
  Stats stats;
  for (const std::unique_ptr<Shard>& shard : shards_) {
    MutexLock lock(shard->mutex);
    stats.num_entries += shard->ring->num_entries();
    stats.live_bytes += shard->ring->live_bytes();
    stats.capacity_bytes += shard->ring->capacity_bytes();
    stats.num_evictions += shard->ring->num_evictions();
  }
  return stats;
}

}  // namespace semrank
