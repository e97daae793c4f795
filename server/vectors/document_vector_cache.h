// Cache of the vectors of recent texts. Lets Rank skip the document tower for
// texts that were embedded before. Evicts first what has not been found for
// long.
//
//   Shape    an entry is a row of the model's format (row_format.h) and, if the
//            model has a lexical part, the text's lexical entries: 4 bytes
//            each, about 50 for a title of eight words. Models of different
//            formats share the cache.
//   Key      (model, side, 128-bit fingerprint of the text as the client sent
//            it, under a secret of the embedder). A vector of one model is
//            never returned for another.
//   Memory   `capacity_bytes` bounds the records: content and 64 bytes, rounded
//            up to 64. The index adds about 10 bytes an entry. 0 disables the
//            cache: every Find misses.
//   Threads  all methods are thread-safe. Locks are per shard and held for at
//            most 256 look-ups, dot products and cosines, usually for a
//            sixteenth of that, never while a tower runs.
//   Errors   none. A full cache evicts; a second Insert keeps the first vector.
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

  // Returns ResourceExhausted when the system has not enough memory.
  static absl::StatusOr<std::unique_ptr<DocumentVectorCache>> Create(
      std::size_t capacity_bytes);

  // `keys` are of one model, whose rows have `format`. For each key i that is
  // known, sets found[i] to 1 and outputs text i of `rows`, computing scores
  // where the vector lies, so that no entry stays pinned; sets found[i] to 0
  // for the others. Returns the number found. Does not allocate.
  int Find(std::span<const VectorKey> keys, RowFormat format,
           const VectorRows& rows, std::span<std::uint8_t> found);
  // Copies the vector and the lexical entries of one key. Returns false for an
  // unknown key, and leaves both unchanged.
  bool FindOne(const VectorKey& key, std::span<float> row,
               std::vector<LexicalEntry>& entries);
  // Inserts the rounded row-major `rows` [keys.size(), format.dim] and the
  // texts' lexical entries; null = the model has none.
  void Insert(std::span<const VectorKey> keys, RowFormat format,
              const float* rows, const LexicalBatch* lexical = nullptr);
  // Drops the entries of all other models, which no request can use any more.
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
