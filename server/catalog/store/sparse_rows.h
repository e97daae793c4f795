// What a model scores beside the vectors of the catalog's documents: one row a
// slot, with the entries of the lexical part (lexical_part.h) or the weighted
// words of SSI's sparse part (sparse_scorer.h). A search then reads no titles.
//
//   Layout   each chunk of 4,096 slots has a segment, which never changes: the
//            rows one after another, and for a lexical part its postings by
//            bucket. A new row is pending, outside the segment, until 128 rows
//            of the chunk are; then a new segment with all of them replaces the
//            old one.
//   Memory   for a lexical part 8 bytes an entry, half of them for the
//            postings, and 25 a slot: 385 for a title of 45 n-grams. For SSI 8
//            bytes a word and 12 a slot.
//   Threads  one writer, any readers. Readers read rows of visible slots
//            (catalog_slots.h). What a new segment replaces is retired, and
//            freed once no reader of an older commit is left.
#ifndef SEMRANK_SERVER_CATALOG_STORE_SPARSE_ROWS_H_
#define SEMRANK_SERVER_CATALOG_STORE_SPARSE_ROWS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/nn/two_tower_model.h"
#include "server/catalog/store/catalog_slots.h"

namespace semrank {

// Rows of documents, one after another, in units of four bytes. A lexical entry
// is one unit; a row of words has all their numbers and then all their values.
struct SparseBatch {
  std::vector<std::uint32_t> offsets = {0};
  std::vector<std::uint32_t> units;

  std::span<const std::uint32_t> operator[](std::size_t i) const {
    return std::span(units).subspan(offsets[i], offsets[i + 1] - offsets[i]);
  }
};

class SparseRows {
 public:
  static constexpr std::uint32_t kSlotsPerChunk = CatalogSlots::kSlotsPerChunk;

  // Whether documents have rows under this model.
  static bool HasRows(const TwoTowerModel& model);
  // Computes the rows of normalised titles.
  static SparseBatch RowsOf(const TwoTowerModel& model,
                            std::span<const std::string_view> titles);

  explicit SparseRows(const TwoTowerModel& model);
  ~SparseRows();
  SparseRows(const SparseRows&) = delete;
  SparseRows& operator=(const SparseRows&) = delete;

  // Appends the row of a slot as one more text. The model decides which of the
  // two kinds it is.
  void AppendTo(std::uint32_t slot, LexicalBatch& batch) const;
  void AppendTo(std::uint32_t slot, BagBatch& bags) const;

  // For each slot of a chunk, the sum over the query's entries of the products
  // of values, as LexicalCosine takes it. It is kMaxSum for a pending row,
  // which must be read instead.
  static constexpr std::uint32_t kMaxSum = kLexicalScale * kLexicalScale;
  struct ChunkSums {
    std::array<std::uint32_t, kSlotsPerChunk> sums;
    std::array<std::uint64_t, kSlotsPerChunk / 64> pending;

    bool IsPending(std::uint32_t slot_of_chunk) const {
      return (pending[slot_of_chunk / 64] >> (slot_of_chunk % 64) & 1) != 0;
    }
  };
  void SumProducts(std::uint32_t chunk, std::span<const LexicalEntry> query,
                   ChunkSums& sums) const;

  // The rest is for the writer. Reserve makes room for slots below `num_slots`.
  void Reserve(std::size_t num_slots);
  // The slot must not be visible to any reader.
  void Set(std::uint32_t slot, std::span<const std::uint32_t> row);
  // Makes new segments where enough rows are pending. Drops the rows of slots
  // without a document; `commit` is the one that is published next.
  void MakeSegments(CommitNumber commit,
                    const std::function<bool(std::uint32_t)>& has_document);
  // Frees what only readers of commits older than `oldest_read` could use.
  void FreeRetired(CommitNumber oldest_read);

  std::size_t num_bytes() const { return num_bytes_; }

 private:
  struct Segment {
    // Row i has the units [offsets[i], offsets[i + 1]).
    std::array<std::uint32_t, kSlotsPerChunk + 1> offsets = {};
    std::vector<std::uint32_t> units;
    // buckets[i] has the postings [begins[i], begins[i + 1]): a slot of the
    // chunk in the upper half, a value in the lower. The buckets whose upper
    // byte is b are [first_buckets[b], first_buckets[b + 1]) of `buckets`.
    std::array<std::uint32_t, 257> first_buckets = {};
    std::vector<std::uint16_t> buckets;
    std::vector<std::uint32_t> begins;
    std::vector<std::uint32_t> postings;

    std::span<const std::uint32_t> row(std::uint32_t i) const {
      return std::span(units).subspan(offsets[i], offsets[i + 1] - offsets[i]);
    }
    void AddProducts(std::span<const LexicalEntry> query,
                     std::span<std::uint32_t, kSlotsPerChunk> sums) const;
    // Finds the index of the bucket in `buckets`.
    std::optional<std::uint32_t> FindList(std::uint16_t bucket) const;
    void PrefetchList(std::uint32_t list) const;
    void AddList(std::uint32_t list, std::uint32_t value,
                 std::span<std::uint32_t, kSlotsPerChunk> sums) const;
    void MakePostings();
    std::size_t num_bytes() const;
  };
  // The number of units, followed by the units.
  using PendingRow = std::unique_ptr<std::uint32_t[]>;
  struct Chunk {
    std::atomic<const Segment*> segment = nullptr;
    std::array<std::atomic<std::uint64_t>, kSlotsPerChunk / 64> pending = {};
    // Valid for pending rows only.
    std::array<const std::uint32_t*, kSlotsPerChunk> rows = {};
    std::uint32_t num_pending = 0;
  };
  struct Retired {
    CommitNumber commit = 0;
    std::unique_ptr<const Segment> segment;
    std::vector<PendingRow> rows;
    std::size_t num_bytes = 0;
  };

  static bool IsPending(const Chunk& chunk, std::uint32_t i) {
    return (chunk.pending[i / 64].load(std::memory_order_acquire) >> (i % 64) &
            1) != 0;
  }
  std::span<const std::uint32_t> RowOf(std::uint32_t slot) const;
  void MakeSegment(std::uint32_t number, CommitNumber commit,
                   const std::function<bool(std::uint32_t)>& has_document);

  const bool has_postings_;
  std::size_t num_chunks_ = 0;
  // Never resized, as in CatalogSlots.
  const std::unique_ptr<std::unique_ptr<Chunk>[]> chunks_;
  std::vector<std::uint32_t> full_chunks_;  // with enough pending rows
  std::deque<Retired> retired_;
  std::size_t num_bytes_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_STORE_SPARSE_ROWS_H_
