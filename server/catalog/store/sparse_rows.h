// What a model scores beside the vectors of the catalog's documents: one row a
// slot, the entries of the lexical part (lexical_part.h) or the weighed words
// of SSI's sparse part (sparse_scorer.h), so that a search reads no titles.
//
//   Layout   each chunk of 4,096 slots has a segment that never changes: the
//            rows one after another, and for a lexical part its postings, by
//            bucket. New rows wait beside the segment; once 128 of a chunk wait
//            a new segment takes its place.
//   Memory   for a lexical part 8 bytes an entry, half of them for the
//            postings, and 25 a slot: 385 for a title of 45 n-grams. For SSI 8
//            bytes a word and 12 a slot.
//   Threads  one writer, any readers. Readers read rows of slots that they see
//            (catalog_slots.h). What the writer takes away is kept until no
//            reader of an older commit is left.
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

// Rows of documents, one after another, in units of four bytes: a lexical entry
// is one; of words, first all their numbers, then all their values.
struct SparseBatch {
  std::vector<std::uint32_t> offsets = {0};
  std::vector<std::uint32_t> units;

  std::span<const std::uint32_t> operator[](std::size_t i) const {
    return std::span(units).subspan(offsets[i], offsets[i + 1] - offsets[i]);
  }
};

class SparseRows {
 public:
  static constexpr std::uint32_t kChunkSlots = CatalogSlots::kChunkSlots;

  // Whether documents have rows under this model.
  static bool HasRows(const TwoTowerModel& model);
  // Rows of normalised titles.
  static SparseBatch RowsOf(const TwoTowerModel& model,
                            std::span<const std::string_view> titles);

  explicit SparseRows(const TwoTowerModel& model);
  ~SparseRows();
  SparseRows(const SparseRows&) = delete;
  SparseRows& operator=(const SparseRows&) = delete;

  // Appends the row of a slot as one more text; of the kind that it is.
  void AppendTo(std::uint32_t slot, LexicalBatch& batch) const;
  void AppendTo(std::uint32_t slot, BagBatch& bags) const;

  // Of one chunk: for each slot the sum over the query's entries of the
  // products of values, as LexicalCosine takes it. For a slot that is waiting
  // it is kMaxSum, and its row must be read.
  static constexpr std::uint32_t kMaxSum = kLexicalScale * kLexicalScale;
  struct ChunkSums {
    std::array<std::uint32_t, kChunkSlots> sums;
    std::array<std::uint64_t, kChunkSlots / 64> waiting;

    bool IsWaiting(std::uint32_t slot_of_chunk) const {
      return (waiting[slot_of_chunk / 64] >> (slot_of_chunk % 64) & 1) != 0;
    }
  };
  void SumProducts(std::uint32_t chunk, std::span<const LexicalEntry> query,
                   ChunkSums& sums) const;

  // For the writer. Room for slots below `num_slots`.
  void Reserve(std::size_t num_slots);
  // Of a slot that no reader sees yet.
  void Set(std::uint32_t slot, std::span<const std::uint32_t> row);
  // Makes new segments where enough rows wait. `has_document(slot)` tells
  // whether the slot's row is still of use; `commit` is the one that will be
  // published next.
  void MakeSegments(CommitNumber commit,
                    const std::function<bool(std::uint32_t)>& has_document);
  // Frees what only readers of commits before `oldest_read` could see.
  void FreeUnread(CommitNumber oldest_read);

  std::size_t num_bytes() const { return num_bytes_; }

 private:
  struct Segment {
    // Row i is units [offsets[i], offsets[i + 1]).
    std::array<std::uint32_t, kChunkSlots + 1> offsets = {};
    std::vector<std::uint32_t> units;
    // Postings of buckets[i]: [begins[i], begins[i + 1]), each a slot of the
    // chunk above a value of 16 bits. Buckets with the upper byte b are
    // [first_buckets[b], first_buckets[b + 1]) of `buckets`.
    std::array<std::uint32_t, 257> first_buckets = {};
    std::vector<std::uint16_t> buckets;
    std::vector<std::uint32_t> begins;
    std::vector<std::uint32_t> postings;

    std::span<const std::uint32_t> row(std::uint32_t i) const {
      return std::span(units).subspan(offsets[i], offsets[i + 1] - offsets[i]);
    }
    void AddProducts(std::span<const LexicalEntry> query,
                     std::span<std::uint32_t, kChunkSlots> sums) const;
    // The bucket's place in `buckets`, if it has one.
    std::optional<std::uint32_t> FindList(std::uint16_t bucket) const;
    void PrefetchList(std::uint32_t list) const;
    void AddList(std::uint32_t list, std::uint32_t value,
                 std::span<std::uint32_t, kChunkSlots> sums) const;
    void MakePostings();
    std::size_t num_bytes() const;
  };
  // The number of units, then these.
  using WaitingRow = std::unique_ptr<std::uint32_t[]>;
  struct Chunk {
    std::atomic<const Segment*> segment = nullptr;
    std::array<std::atomic<std::uint64_t>, kChunkSlots / 64> waiting = {};
    // Of slots that wait; the others' pointers mean nothing.
    std::array<const std::uint32_t*, kChunkSlots> rows = {};
    std::uint32_t num_waiting = 0;
  };
  struct Unread {
    CommitNumber commit = 0;
    std::unique_ptr<const Segment> segment;
    std::vector<WaitingRow> rows;
    std::size_t num_bytes = 0;
  };

  static bool IsWaiting(const Chunk& chunk, std::uint32_t i) {
    return (chunk.waiting[i / 64].load(std::memory_order_acquire) >> (i % 64) &
            1) != 0;
  }
  std::span<const std::uint32_t> RowOf(std::uint32_t slot) const;
  void MakeSegment(std::uint32_t number, CommitNumber commit,
                   const std::function<bool(std::uint32_t)>& has_document);

  const bool has_postings_;
  std::size_t num_chunks_ = 0;
  // A fixed directory: readers look at it while chunks are added.
  const std::unique_ptr<std::unique_ptr<Chunk>[]> chunks_;
  std::vector<std::uint32_t> full_chunks_;  // where enough rows wait
  std::deque<Unread> unread_;
  std::size_t num_bytes_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_STORE_SPARSE_ROWS_H_
