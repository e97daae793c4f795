// Keeps the vectors of recent texts, so that Rank can skip the document tower
// for them. Entries that have not been found for long are evicted first.
//
//   Shape    one record = a row of the model's format (row_format.h), and the
//            text's lexical entries if its model has a lexical part: 4 bytes
//            each, about 50 for a title of eight words. Models of different
//            formats share the cache.
//   Key      (model, side, 128-bit fingerprint of the text as given, under a
//            secret of the embedder); a vector of one model is never handed
//            out for another.
//   Size     capacity_bytes bounds the records: content and 64 bytes, rounded
//            up to 64. The index adds about 10 bytes an entry. 0 stores
//            nothing: every Find misses.
//   Owner    the cache: Find scores vectors where they lie, or copies them out,
//            so that nothing stays pinned.
//   Threads  every method, from any thread. Locks are per shard and held for
//            at most 256 look-ups, dot products and cosines, usually for a
//            sixteenth of that, and never while a tower runs.
//   Errors   none: a full cache evicts, a second Insert keeps the first vector.
#ifndef SEMRANK_SERVER_VECTORS_DOCUMENT_VECTOR_CACHE_H_
#define SEMRANK_SERVER_VECTORS_DOCUMENT_VECTOR_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "model/base/mutex.h"
#include "server/vectors/text_batch.h"
#include "server/vectors/vector_ring.h"

namespace semrank {

class DocumentVectorCache {
 public:
  struct Stats {
    std::size_t num_entries = 0;
    std::size_t live_bytes = 0;
    std::size_t capacity_bytes = 0;
    std::uint64_t num_evictions = 0;
  };

  // ResourceExhausted when the system cannot give so much memory.
  static absl::StatusOr<std::unique_ptr<DocumentVectorCache>> Create(
      std::size_t capacity_bytes);

  // `keys` are of one model, whose rows have this format. For each key that is
  // known: outputs text i of `rows`, and found[i] becomes
  // 1; the others' are left alone and found[i] becomes 0. Returns the number
  // found. No allocation.
  int Find(std::span<const VectorKey> keys, RowFormat format,
           const VectorRows& rows, std::span<std::uint8_t> found);
  // Copies out the vector of one key and its lexical entries. False, leaving
  // both alone, for a key that is not known.
  bool FindOne(const VectorKey& key, std::span<float> row,
               std::vector<LexicalEntry>& entries);
  // Row i of the row-major `rows` [keys.size(), format.dim] is the vector of
  // keys[i], rounded; text i of `lexical`, if that is not null, its entries.
  void Insert(std::span<const VectorKey> keys, RowFormat format,
              const float* rows, const LexicalBatch* lexical = nullptr);
  // Called once a reload is published; what no request can ask for leaves.
  void DropModelsExcept(std::span<const std::uint32_t> models);

  Stats GetStats() const;

 private:
  struct Shard {
    mutable Mutex mutex;
    std::unique_ptr<VectorRing> ring ABSL_GUARDED_BY(mutex);
  };

  DocumentVectorCache() = default;
  template <typename Visit>
  void ForEachShardGroup(std::span<const VectorKey> keys, Visit visit);

  std::vector<std::unique_ptr<Shard>> shards_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_VECTORS_DOCUMENT_VECTOR_CACHE_H_
