#include "server/vectors/document_vector_cache.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "model/base/status_macros.h"
#include "model/nn/cosine_scorer.h"

namespace semrank {
namespace {

// A shard's lock is held for a fraction of a batch; with 16, two threads rarely
// need the same one at once.
constexpr std::size_t kMaxShards = 16;
// Smaller shards would evict by the chance of hashing more than by age.
constexpr std::size_t kMinShardBytes = std::size_t{1} << 20;
// Small enough for arrays on the stack and for short locks.
constexpr std::size_t kBlockKeys = 256;
constexpr std::size_t kCacheLineBytes = 64;

// Uses text.hi, since the index of a shard hashes by text.lo: otherwise all
// keys of a shard would share bits of their hash. A product replaces the
// division.
std::size_t ShardOf(const VectorKey& key, std::size_t num_shards) {
  return (key.text.hi >> 32) * num_shards >> 32;
}

// Records, and the numbers of their texts.
struct FoundRecords {
  std::array<const VectorRing::Record*, kBlockKeys> records;
  std::array<std::uint32_t, kBlockKeys> texts;
  std::size_t size = 0;
};

void Prefetch(const VectorRing::Record& record, bool lexical) {
  const std::byte* const begin = record.row();
  const std::size_t num_bytes =
      record.format.num_bytes() +
      (lexical ? record.num_entries * sizeof(LexicalEntry) : 0);
  for (std::size_t i = 0; i < num_bytes; i += kCacheLineBytes) {
    __builtin_prefetch(begin + i);
  }
}

void Score(const FoundRecords& found, RowFormat format,
           const VectorRows& rows) {
  std::array<const std::byte*, kBlockKeys> vectors;
  std::array<float, kBlockKeys> scores;
  for (std::size_t i = 0; i < found.size; ++i) {
    vectors[i] = found.records[i]->row();
  }
  // The vectors are in the cache already, so this variant does not prefetch.
  ScoreNearDocuments(rows.query_row, std::span(vectors).first(found.size),
                     format, std::span(scores).first(found.size));
  for (std::size_t i = 0; i < found.size; ++i) {
    rows.scores[found.texts[i]] = scores[i];
  }
}

void Output(const FoundRecords& found, RowFormat format,
            const VectorRows& rows) {
  // Rank needs only the scores, which are computed where the rows lie: no row
  // is decoded or copied.
  if (rows.scores != nullptr) Score(found, format, rows);
  for (std::size_t i = 0; i < found.size; ++i) {
    const VectorRing::Record& record = *found.records[i];
    const std::size_t text = found.texts[i];
    if (rows.dense != nullptr) {
      DecodeRow(record.row(), format, rows.dense + text * format.dim);
    }
    if (rows.query != nullptr) {
      rows.lexical[text] = rows.query->Cosine(record.lexical());
    }
  }
}

}  // namespace

// With capacity 0 there are no shards, and every method loops over none.
absl::StatusOr<std::unique_ptr<DocumentVectorCache>>
DocumentVectorCache::Create(std::size_t capacity_bytes) {
  std::unique_ptr<DocumentVectorCache> cache(new DocumentVectorCache);
  if (capacity_bytes == 0) return cache;
  const std::size_t num_shards =
      std::clamp<std::size_t>(capacity_bytes / kMinShardBytes, 1, kMaxShards);
  for (std::size_t i = 0; i < num_shards; ++i) {
    auto shard = std::make_unique<Shard>();
    // Only for the thread-safety analysis: no other thread knows the shard yet.
    MutexLock lock(shard->mutex);
    SEMRANK_ASSIGN_OR_RETURN(shard->ring,
                             VectorRing::Create(capacity_bytes / num_shards));
    cache->shards_.push_back(std::move(shard));
  }
  return cache;
}

// Calls visit(shard, positions) for the keys of each shard, in blocks of keys.
// A batch so takes each lock once a block, and holds it only briefly.
template <typename Visit>
void DocumentVectorCache::ForEachShardGroup(std::span<const VectorKey> keys,
                                            Visit visit) {
  const std::size_t num_shards = shards_.size();
  if (num_shards == 0) return;
  std::array<std::uint8_t, kBlockKeys> shard_of;
  std::array<std::uint32_t, kBlockKeys> positions;
  for (std::size_t first = 0; first < keys.size(); first += kBlockKeys) {
    const std::size_t size = std::min(kBlockKeys, keys.size() - first);
    // A counting sort: sizes of the groups, then where each begins, then the
    // positions.
    // ends[s + 1] first counts group s. One element more than there are shards,
    // so that the sums below give where each group begins.
    std::array<std::uint32_t, kMaxShards + 1> ends = {};
    for (std::size_t i = 0; i < size; ++i) {
      shard_of[i] =
          static_cast<std::uint8_t>(ShardOf(keys[first + i], num_shards));
      ++ends[shard_of[i] + 1];
    }
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    // ends[s] is where group s begins; this loop advances it to the end.
    for (std::size_t i = 0; i < size; ++i) {
      positions[ends[shard_of[i]]++] = static_cast<std::uint32_t>(first + i);
    }
    for (std::size_t s = 0; s < num_shards; ++s) {
      const std::uint32_t begin = s == 0 ? 0 : ends[s - 1];
      if (begin == ends[s]) continue;
      visit(*shards_[s], std::span<const std::uint32_t>(
                             positions.data() + begin, ends[s] - begin));
    }
  }
}

int DocumentVectorCache::Find(std::span<const VectorKey> keys, RowFormat format,
                              const VectorRows& rows,
                              std::span<std::uint8_t> found) {
  int num_found = 0;
  std::ranges::fill(found, std::uint8_t{0});
  ForEachShardGroup(
      keys, [&](Shard& shard, std::span<const std::uint32_t> positions) {
        // Three passes over the keys (index, header, vector): each prefetches
        // what the next one reads, so that misses of the CPU's caches overlap.
        // Records stay valid, since the lock keeps Insert out.
        FoundRecords hits;
        MutexLock lock(shard.mutex);
        for (const std::uint32_t i : positions) {
          shard.ring->PrefetchIndex(keys[i]);
        }
        for (const std::uint32_t i : positions) {
          shard.ring->PrefetchRecord(keys[i]);
        }
        for (const std::uint32_t i : positions) {
          const VectorRing::Record* const record = shard.ring->Find(keys[i]);
          if (record == nullptr) continue;
          Prefetch(*record, rows.query != nullptr);
          hits.records[hits.size] = record;
          hits.texts[hits.size++] = i;
          found[i] = 1;
        }
        Output(hits, format, rows);
        num_found += static_cast<int>(hits.size);
      });
  return num_found;
}

bool DocumentVectorCache::FindOne(const VectorKey& key, std::span<float> row,
                                  std::vector<LexicalEntry>& entries) {
  if (shards_.empty()) return false;
  Shard& shard = *shards_[ShardOf(key, shards_.size())];
  MutexLock lock(shard.mutex);
  const VectorRing::Record* const record = shard.ring->Find(key);
  if (record == nullptr) return false;
  DecodeRow(record->row(), record->format, row.data());
  entries.assign(record->lexical().begin(), record->lexical().end());
  return true;
}

void DocumentVectorCache::Insert(std::span<const VectorKey> keys,
                                 RowFormat format, const float* rows,
                                 const LexicalBatch* lexical) {
  ForEachShardGroup(keys, [&](Shard& shard,
                              std::span<const std::uint32_t> positions) {
    MutexLock lock(shard.mutex);
    for (const std::uint32_t i : positions) {
      shard.ring->Insert(keys[i], format, rows + std::size_t{i} * format.dim,
                         lexical == nullptr ? std::span<const LexicalEntry>()
                                            : (*lexical)[static_cast<int>(i)]);
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
  // Locks one shard after the other, so the sums are not those of one moment.
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
